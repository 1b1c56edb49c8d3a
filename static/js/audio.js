// [data-audio]: a button, a waveform to seek in, and the time. Arrow keys on the
// button seek by two seconds. The <audio> element does the playing; what it cannot
// play is said in [data-unplayed].
const row = (node) => node.closest?.("[data-audio]");
const sound = (box) => box.querySelector("audio");

const clock = (seconds) =>
  `${Math.floor(seconds / 60)}:${String(Math.floor(seconds % 60)).padStart(2, "0")}`;

// A refusal to play is told by the error event.
const play = (audio) => audio.play().catch(() => {});

const seek = (audio, change) => {
  const place = change(audio.currentTime, audio.duration);
  if (Number.isFinite(place)) audio.currentTime = Math.max(0, place);
};

document.addEventListener("click", (event) => {
  const box = row(event.target);
  if (!box) return;
  const audio = sound(box);
  const wave = event.target.closest(".wave");
  if (wave) {
    const { left, width } = wave.getBoundingClientRect();
    const share = (event.clientX - left) / width;
    if (audio.readyState) seek(audio, (_now, length) => share * length);
    else {
      audio.addEventListener("loadedmetadata", () => seek(audio, (_now, length) => share * length), { once: true });
      play(audio);
    }
  } else if (event.target.closest("button")) {
    if (audio.paused) play(audio);
    else audio.pause();
  }
});

document.addEventListener("keydown", (event) => {
  const steps = { ArrowLeft: -2, ArrowRight: 2 };
  const box = event.target.matches?.("[data-audio] > button") && row(event.target);
  if (!box || !(event.key in steps)) return;
  event.preventDefault();
  seek(sound(box), (now) => now + steps[event.key]);
});

const draw = ({ target }) => {
  const box = row(target);
  if (!box) return;
  const bars = box.querySelectorAll(".wave rect");
  const share = target.duration ? target.currentTime / target.duration : 0;
  bars.forEach((bar, place) => bar.classList.toggle("played", place / bars.length < share));
  const time = box.querySelector("time");
  const [, total] = time.textContent.split(" / ");
  if (total) time.textContent = `${clock(target.currentTime)} / ${total}`;
};

const press = ({ target, type }) => {
  const box = row(target);
  if (!box) return;
  box.querySelector("button").setAttribute("aria-pressed", type === "play");
  if (type !== "play") return;
  for (const other of document.querySelectorAll("[data-audio] audio")) {
    if (other !== target) other.pause();
  }
};

const fail = ({ target }) => {
  const said = row(target)?.querySelector("[data-unplayed]");
  if (!said) return;
  said.hidden = false;
  said.textContent = said.dataset.text;
};

// Media events do not bubble, so they are caught on the way down.
for (const name of ["timeupdate", "seeked"]) document.addEventListener(name, draw, true);
for (const name of ["play", "pause", "ended"]) document.addEventListener(name, press, true);
document.addEventListener("error", fail, true);
