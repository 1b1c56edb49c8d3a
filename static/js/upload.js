// [data-upload]: a file field that shows its progress. Without this script it is a
// plain form. The server answers {"location": …}, or 422 {"message": …}, or a page.
const MB = 1024 * 1024;
const requests = new WeakMap();

const part = (zone, name) => zone.querySelector(`[data-${name}]`);
const field = (zone) => zone.querySelector("input[type=file]");
const megabytes = (bytes) => (bytes / MB).toFixed(1);

const complain = (zone, text) => {
  const alert = part(zone, "upload-alert");
  (alert.querySelector("div") ?? alert).textContent = text ?? "";
  alert.hidden = !text;
};

const show = (zone) => {
  const file = field(zone).files[0];
  const row = part(zone, "upload-file");
  row.hidden = !file;
  row.querySelector("progress").hidden = true;
  part(zone, "progress").textContent = "";
  if (!file) return;
  part(zone, "name").textContent = file.name;
  part(zone, "size").textContent = `${megabytes(file.size)} MB`;
};

const reset = (zone) => {
  requests.get(zone)?.abort();
  requests.delete(zone);
  field(zone).value = "";
  show(zone);
};

const report = (zone, started) => ({ loaded, total }) => {
  const bar = zone.querySelector("progress");
  bar.hidden = false;
  bar.value = (100 * loaded) / total;
  const { text, left, checking } = zone.dataset;
  const seconds = ((Date.now() - started) / 1000) * (total / loaded - 1);
  const done = text.replace("{done}", megabytes(loaded)).replace("{total}", megabytes(total));
  const rest = seconds > 1 ? `, ${left.replace("{seconds}", Math.ceil(seconds))}` : "";
  part(zone, "progress").textContent = loaded === total ? checking : done + rest;
};

const finish = (zone, request) => {
  requests.delete(zone);
  let answer = {};
  try {
    answer = JSON.parse(request.responseText);
  } catch {
    if (request.status < 400) return location.assign(request.responseURL);
  }
  if (request.status < 400 && answer.location) return location.assign(answer.location);
  reset(zone);
  const { silent, expired } = zone.dataset;
  complain(zone, answer.message ?? (request.status === 403 ? expired : silent));
};

const send = (zone, form, submitter) => {
  const request = new XMLHttpRequest();
  const url = submitter?.getAttribute("formaction") ?? form.action;
  requests.set(zone, request);
  complain(zone);
  request.upload.addEventListener("progress", report(zone, Date.now()));
  request.addEventListener("load", () => finish(zone, request));
  request.addEventListener("error", () => {
    requests.delete(zone);
    show(zone);
    complain(zone, zone.dataset.silent);
  });
  request.open("POST", url);
  request.setRequestHeader("Accept", "application/json, text/html;q=0.5");
  request.setRequestHeader("X-Requested-With", "XMLHttpRequest");
  request.send(new FormData(form, submitter));
};

const zoneOf = (form) =>
  [...document.querySelectorAll("[data-upload]")].find(
    (zone) => field(zone).form === form && field(zone).files.length,
  );

document.addEventListener("submit", (event) => {
  const zone = zoneOf(event.target);
  if (!zone || event.defaultPrevented) return;
  event.preventDefault();
  if (!requests.has(zone)) send(zone, event.target, event.submitter);
});

document.addEventListener("change", ({ target }) => {
  const zone = target.matches("input[type=file]") && target.closest("[data-upload]");
  if (!zone) return;
  complain(zone);
  show(zone);
  if (zone.dataset.upload === "auto" && target.files.length) target.form.requestSubmit();
});

document.addEventListener("click", ({ target }) => {
  const zone = target.closest("[data-cancel]")?.closest("[data-upload]");
  if (!zone) return;
  reset(zone);
  field(zone).focus();
});

for (const [name, over] of [["dragenter", true], ["dragleave", false], ["drop", false]]) {
  document.addEventListener(name, ({ target }) =>
    target.closest?.(".drop")?.classList.toggle("over", over),
  );
}
