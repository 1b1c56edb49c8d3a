// #toasts: notes that go away by themselves, except failures. A server sends one out of
// band, or by the header HX-Trigger: {"toast": {"text": …, "tone": "pass"}}.
const SECONDS = 6;
const box = () => document.getElementById("toasts");

const raise = () => {
  if (document.querySelector("dialog:modal")) box().hidePopover?.();
  box().showPopover?.();
};

const leave = (toast) => {
  if (toast.matches(":hover, :focus-within")) setTimeout(leave, 2000, toast);
  else toast.remove();
};

const add = (text, tone) => {
  if (!box()) return;
  const toast = document.getElementById("toast").content.firstElementChild.cloneNode(true);
  toast.classList.add(`toast-${tone}`);
  const use = toast.querySelector("use");
  const icon = tone === "info" ? "info" : tone;
  use.setAttribute("href", use.getAttribute("href").replace(/#.*/, `#${icon}`));
  toast.querySelector("b").textContent = text;
  box().append(toast);
};

if (box()) {
  box().showPopover?.();
  new MutationObserver((changes) => {
    const added = changes.flatMap(({ addedNodes }) => [...addedNodes]);
    for (const toast of added.filter((node) => node.matches?.(".toast"))) {
      raise();
      if (!toast.matches(".toast-fail")) setTimeout(leave, SECONDS * 1000, toast);
    }
  }).observe(box(), { childList: true });
}

document.addEventListener("toast", ({ detail }) => add(detail.text ?? detail.value, detail.tone ?? "pass"));

document.addEventListener("ui:failed", ({ detail }) => {
  const { silent, failed, gone, forbidden } = box()?.dataset ?? {};
  const texts = { 0: silent, 403: forbidden, 404: gone };
  add(texts[detail.status] ?? failed, "fail");
});

document.addEventListener("click", ({ target }) => {
  target.closest("[data-dismiss]")?.closest(".toast, .msgbar")?.remove();
});
