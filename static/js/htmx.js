// The only file that knows htmx events. It tells the others by three events of our
// own: ui:request, ui:swapped and ui:failed.
const tell = (element, name, detail) =>
  element.dispatchEvent(new CustomEvent(name, { bubbles: true, detail }));

const submits = (element) =>
  element.closest("form")?.querySelectorAll("button[type=submit], button:not([type])") ?? [];

document.addEventListener("htmx:beforeRequest", ({ detail }) => {
  const { elt, target, requestConfig } = detail;
  tell(elt, "ui:request", { target });
  if (elt.hasAttribute("data-poll")) return;
  target?.setAttribute("aria-busy", "true");
  if (requestConfig.verb === "get") return;
  for (const button of submits(elt)) button.disabled = true;
});

document.addEventListener("htmx:afterRequest", ({ detail }) => {
  const { elt, target, successful, xhr } = detail;
  target?.removeAttribute("aria-busy");
  for (const button of submits(elt)) button.disabled = false;
  const handled = successful || xhr.status === 422;
  if (!elt.hasAttribute("data-poll")) {
    if (!handled) tell(document.body, "ui:failed", { status: xhr.status });
    return;
  }
  tell(elt, handled ? "poll:answered" : "poll:lost");
});

document.addEventListener("htmx:load", ({ detail }) => {
  const { elt } = detail;
  tell(document.body, "ui:swapped", { element: elt });
  const summary = elt.matches?.("[data-focus]") ? elt : elt.querySelector?.("[data-focus]");
  summary?.focus();
});
