// <dialog id="panel"> over a list. It opens when a row is swapped into it. Each row is
// an entry in the history that remembers its depth; closing goes back to the list.
const panel = () => document.getElementById("panel");
let opener = null;
let leaving = false;

const mark = (address) => {
  for (const link of document.querySelectorAll("a.row-link")) {
    const current = link.pathname === address.pathname;
    const row = link.closest("tr");
    if (current) {
      opener = link;
      row?.setAttribute("aria-current", "true");
    } else row?.removeAttribute("aria-current");
  }
};

document.addEventListener("ui:request", ({ target, detail }) => {
  if (detail.target?.id === "panel" && !panel().open) opener = target;
});

document.addEventListener("ui:swapped", ({ detail }) => {
  const dialog = panel();
  if (!dialog?.contains(detail.element) || !dialog.childElementCount) return;
  const state = history.state ?? {};
  if (!dialog.open) {
    dialog.showModal();
    history.replaceState({ ...state, panel: 1 }, "");
    dialog.dataset.depth = 1;
  } else if (!state.panel) {
    dialog.dataset.depth = Number(dialog.dataset.depth) + 1;
    history.replaceState({ ...state, panel: Number(dialog.dataset.depth) }, "");
  }
  mark(location);
  dialog.querySelector("[data-panel-title], h2")?.focus();
});

document.addEventListener(
  "close",
  ({ target }) => {
    if (target !== panel()) return;
    const depth = history.state?.panel ?? 0;
    target.replaceChildren();
    for (const row of document.querySelectorAll("tr[aria-current]")) row.removeAttribute("aria-current");
    opener?.focus();
    leaving = depth > 0;
    if (leaving) history.go(-depth);
  },
  true,
);

// Registered before htmx listens, so that the list is not loaded again.
window.addEventListener("popstate", (event) => {
  const depth = event.state?.panel;
  if (leaving) {
    leaving = false;
    event.stopImmediatePropagation();
  } else if (panel()?.open && !depth) {
    event.stopImmediatePropagation();
    panel().close();
  } else if (panel()?.open) {
    event.stopImmediatePropagation();
    panel().dataset.depth = depth;
    window.htmx?.ajax("GET", location.href, { target: "#panel", swap: "innerHTML" });
  }
});
