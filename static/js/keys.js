// Keyboard. Single keys press the [data-key] control of the open dialog or page, walk
// through [data-keys-rows], focus the search or open the list of keys. They rest while
// a field has focus, and always when the reader turned them off.
const FIELDS = "input:not([type=radio], [type=checkbox]), textarea, select, [contenteditable]";

const walk = (down) => {
  const links = [...document.querySelectorAll("[data-keys-rows] .row-link, [data-keys-rows] [data-row]")];
  const place = links.indexOf(document.activeElement);
  const next = place < 0 ? 0 : place + (down ? 1 : -1);
  links[Math.min(Math.max(next, 0), links.length - 1)]?.focus();
  return links.length > 0;
};

const press = (key) => {
  const scope = document.querySelector("dialog:modal") ?? document;
  const control = [...scope.querySelectorAll("[data-key]")].find(
    (element) => element.dataset.key === key && element.checkVisibility(),
  );
  if (control) control.click();
  else if (scope !== document) return false;
  else if (key === "j" || key === "k") return walk(key === "j");
  else if (key === "/") document.querySelector("[data-search]")?.focus();
  else if (key === "?") document.getElementById("keys")?.showModal();
  else return false;
  return true;
};

const submit = (target) => {
  const form = target.closest("form[data-ctrl-enter]") ?? document.querySelector("form[data-ctrl-enter]");
  const button = form && [...form.elements].find((element) => element.matches(".btn-primary"));
  form?.requestSubmit(button);
};

document.addEventListener("keydown", (event) => {
  if (event.defaultPrevented) return;
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) return submit(event.target);
  if (event.ctrlKey || event.metaKey || event.altKey || event.key.length > 1) return;
  if (document.documentElement.dataset.keys === "off" || event.target.matches(FIELDS)) return;
  if (press(event.key.toLowerCase())) event.preventDefault();
});
