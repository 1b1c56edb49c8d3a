// Entry: one behaviour a module. Each starts from a data attribute and listens on
// the document, so it survives swaps.
import "./htmx.js";
import "./poll.js";
import "./upload.js";
import "./audio.js";
import "./keys.js";
import "./menus.js";
import "./lightbox.js";
import "./panel.js";
import "./toasts.js";
import "./bulk.js";
import "./guard.js";
import "./theme.js";

document.documentElement.dataset.js = "";
document.querySelector("[data-focus]")?.focus();
