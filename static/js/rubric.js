// The editor of a rubric: [data-sets] is a slider for the field of that name, and Alt
// with an arrow key presses the [data-move] button of the dimension that has the focus.
const fieldOf = (slider) => slider.form?.elements[slider.dataset.sets];

document.addEventListener("input", ({ target }) => {
  if (target.matches("[data-sets]")) {
    const field = fieldOf(target);
    if (field) field.value = Number(target.value).toFixed(2);
    return;
  }
  const slider = target.form?.querySelector(`[data-sets="${CSS.escape(target.name ?? "")}"]`);
  const value = Number(target.value?.replace(",", "."));
  if (slider && Number.isFinite(value)) slider.value = value;
});

document.addEventListener("keydown", (event) => {
  const move = { ArrowUp: "up", ArrowDown: "down" }[event.key];
  if (!move || !event.altKey) return;
  const button = event.target.closest?.(".dim")?.querySelector(`[data-move="${move}"]`);
  if (!button) return;
  event.preventDefault();
  button.click();
});
