// A soft knock of wood when a move of another player comes in. Loaded only when the sound is on.

let context = null;

/** Make the sound, if the browser lets this page make any. */
export function tock() {
  context ??= new AudioContext();
  if (context.state === "suspended") context.resume();
  const now = context.currentTime;
  const body = context.createOscillator();
  const loudness = context.createGain();
  body.type = "triangle";
  body.frequency.setValueAtTime(340, now);
  body.frequency.exponentialRampToValueAtTime(170, now + 0.06);
  loudness.gain.setValueAtTime(0.0001, now);
  loudness.gain.exponentialRampToValueAtTime(0.22, now + 0.004);
  loudness.gain.exponentialRampToValueAtTime(0.0001, now + 0.14);
  body.connect(loudness).connect(context.destination);
  body.start(now);
  body.stop(now + 0.15);
  document.documentElement.dataset.tocks = String(Number(document.documentElement.dataset.tocks ?? 0) + 1);
}

function shown() {
  return Number(document.querySelector("[data-seq]")?.dataset.seq ?? 0);
}

let before = shown();
document.addEventListener("htmx:afterSettle", ({ detail }) => {
  const now = shown();
  // what this page sent itself makes no sound
  const heard = detail.requestConfig?.elt.id === "news" && now > before;
  before = now;
  if (heard && document.documentElement.dataset.sound) tock();
});
// browsers let a page make sounds only after somebody has used it
for (const kind of ["pointerdown", "keydown"]) {
  addEventListener(kind, () => context?.resume(), { once: true });
}
