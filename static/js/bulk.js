// [data-bulk]: counts ticked rows and keeps them in the address, so that a selection
// survives a reload and can be shared. [data-all] ticks the page.
const boxes = () => [...document.querySelectorAll(".pick input[name=sel]")];

const count = () => {
  const bar = document.querySelector("[data-bulk]");
  if (!bar) return [];
  const ticked = boxes().filter((box) => box.checked);
  const slot = bar.querySelector("[data-count]");
  slot.textContent = (slot.dataset.count || "{n}").replace("{n}", ticked.length);
  const all = document.querySelector("[data-all]");
  if (all) {
    all.checked = ticked.length > 0 && ticked.length === boxes().length;
    all.indeterminate = ticked.length > 0 && !all.checked;
  }
  return ticked;
};

document.addEventListener("change", ({ target }) => {
  if (target.matches("[data-all]")) {
    for (const box of boxes()) box.checked = target.checked;
  } else if (!target.matches(".pick input[name=sel]")) return;
  const address = new URL(location);
  address.searchParams.delete("sel");
  for (const box of count()) address.searchParams.append("sel", box.value);
  history.replaceState(history.state, "", address);
});

document.addEventListener("ui:swapped", count);
count();
