// [data-poll]: an event "poll" every 2 s while the page is seen, every 5 s after two
// minutes; data-poll="5" keeps to 5 s. After 3 failures in a row the text of
// data-lost appears in [data-poll-lost]; {time} is the time of the last answer.
const states = new Map();

const stateOf = (element) => {
  const key = element.id || element;
  if (!states.has(key)) {
    const now = Date.now();
    states.set(key, { since: now, last: now, answered: now, failures: 0 });
  }
  return states.get(key);
};

const pause = (element, state, now) =>
  Number(element.dataset.poll) * 1000 || (now - state.since < 120_000 ? 2000 : 5000);

const tick = () => {
  if (document.hidden) return;
  const now = Date.now();
  for (const element of document.querySelectorAll("[data-poll]")) {
    const state = stateOf(element);
    if (now - state.last < pause(element, state, now)) continue;
    state.last = now;
    element.dispatchEvent(new CustomEvent("poll"));
  }
};

setInterval(tick, 500);
document.addEventListener("visibilitychange", tick);

document.addEventListener("poll:answered", ({ target }) => {
  Object.assign(stateOf(target), { failures: 0, answered: Date.now() });
  target.querySelector("[data-poll-lost]")?.setAttribute("hidden", "");
});

document.addEventListener("poll:lost", ({ target }) => {
  const state = stateOf(target);
  state.failures += 1;
  const box = target.querySelector("[data-poll-lost]");
  if (!box || state.failures < 3) return;
  const time = new Date(state.answered).toTimeString().slice(0, 5);
  const text = (target.dataset.lost ?? "").replace("{time}", time);
  (box.querySelector("div") ?? box).textContent = text;
  box.hidden = false;
});
