// a[data-lightbox]: the image opens over the page; the link alone opens the file.
// Closing gives the focus back to the link.
document.addEventListener("click", (event) => {
  const link = event.target.closest("a[data-lightbox]");
  const dialog = document.getElementById("lightbox");
  if (!link || !dialog || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  const image = dialog.querySelector("img");
  image.src = link.href;
  image.alt = link.querySelector("img")?.alt ?? "";
  dialog.setAttribute("aria-label", image.alt);
  dialog.querySelector("[data-caption]").textContent = link.dataset.caption ?? "";
  dialog.querySelector("a[download]").href = link.href;
  dialog.showModal();
  dialog.addEventListener("close", () => {
    image.removeAttribute("src");
    link.focus();
  }, { once: true });
});
