// form[data-guard]: the browser asks before changes are left behind. A [data-dirty] part
// of the form appears with the first change.
const changed = new Set();

const note = ({ target }) => {
  const form = target.form ?? target.closest?.("form");
  if (!form?.matches("[data-guard]")) return;
  changed.add(form);
  for (const part of form.querySelectorAll("[data-dirty]")) part.hidden = false;
};

document.addEventListener("input", note);
document.addEventListener("change", note);
document.addEventListener("submit", ({ target }) => changed.delete(target));
document.addEventListener("ui:saved", ({ target }) => changed.delete(target.closest("form")));

window.addEventListener("beforeunload", (event) => {
  if ([...changed].some((form) => form.isConnected)) event.preventDefault();
});
