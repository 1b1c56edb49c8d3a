// [data-theme-form]: the other theme at once, saved in the background.
document.addEventListener("submit", (event) => {
  const form = event.target;
  if (!form.matches("[data-theme-form]")) return;
  event.preventDefault();
  const root = document.documentElement;
  const system = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
  const theme = (root.dataset.theme ?? system) === "dark" ? "light" : "dark";
  root.dataset.theme = theme;
  const body = new FormData(form);
  body.set("theme", theme);
  fetch(form.action, { method: "POST", body, redirect: "manual" });
});
