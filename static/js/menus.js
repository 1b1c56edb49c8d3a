// Menus close on a click outside and on Escape. Older browsers learn `commandfor` and
// `closedby`.
const OPEN = "details[name=menu][open]";

document.addEventListener("click", ({ target }) => {
  for (const menu of document.querySelectorAll(OPEN)) {
    if (!menu.contains(target)) menu.open = false;
  }
});

document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape") return;
  for (const menu of document.querySelectorAll(OPEN)) {
    menu.open = false;
    if (menu.contains(document.activeElement)) menu.querySelector("summary").focus();
  }
});

if (!("commandForElement" in HTMLButtonElement.prototype)) {
  document.addEventListener("click", ({ target }) => {
    const button = target.closest("button[commandfor]");
    const dialog = button && document.getElementById(button.getAttribute("commandfor"));
    if (button?.getAttribute("command") === "show-modal") dialog?.showModal();
    else if (button) dialog?.close();
  });
}

if (!("closedBy" in HTMLDialogElement.prototype)) {
  document.addEventListener("click", ({ target }) => {
    if (target.matches("dialog[closedby=any]")) target.close();
  });
}
