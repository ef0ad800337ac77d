// Long work: how far it is, until it ends.
import { refresh, send } from "./api.js";

export function progressBox(note) {
  const box = document.createElement("div");
  box.className = "job";
  const bar = document.createElement("progress");
  bar.setAttribute("aria-label", "Progress");
  const text = document.createElement("p");
  text.className = "soft number";
  text.setAttribute("role", "status");
  text.textContent = note;
  box.append(bar, text);
  return { box, bar, text };
}

export function show(job, bar, text) {
  // Of one step nobody sees how far it is: it would stand at nothing, or at all, for as long as it takes.
  const counts = job.total > 1;
  if (counts) {
    bar.max = job.total;
    bar.value = job.done;
  } else {
    bar.removeAttribute("value");
  }
  const left = job.left > 1 ? `, about ${Math.ceil(job.left)} s left` : "";
  const words = job.text || "working";
  text.textContent = words[0].toUpperCase() + words.slice(1) + (counts ? `: ${job.done} of ${job.total}` : " …") + left;
}

// Follow a job until it ends; an end that is not good is an Error.
export function follow(number, onStep) {
  return new Promise((resolve, reject) => {
    const events = new EventSource(`/api/jobs/${number}/events`);
    const see = (job) => {
      onStep(job);
      if (job.state === "waiting" || job.state === "running") return;
      events.close();
      if (job.state === "done") resolve(job);
      else reject(new Error(job.error || (job.state === "cancelled" ? "Stopped." : "That did not work.")));
    };
    events.onmessage = (event) => see(JSON.parse(event.data));
    events.onerror = () => {
      // The stream ends with the job: ask once more how it went.
      events.close();
      send("GET", `/api/jobs/${number}`).then((job) => (job.state === "running" || job.state === "waiting" ? follow(number, onStep).then(resolve, reject) : see(job)), reject);
    };
  });
}

// What waits for the collection to be searchable: ask, show how far it is, then go on.
export async function prepare(place, then) {
  const bar = place.querySelector("progress");
  const text = place.querySelector("[data-text]");
  const look = setInterval(async () => {
    const { jobs } = await send("GET", "/api/jobs").catch(() => ({ jobs: [] }));
    const running = jobs.find((job) => job.state === "running" && job.kind !== "intake");
    if (running) show(running, bar, text);
  }, 600);
  try {
    await send("POST", "/api/searches", { ...JSON.parse(place.dataset.ask), top: 1 });
  } catch (reason) {
    bar.hidden = true;
    place.querySelector("h1").textContent = "That did not work";
    text.textContent = reason.message;
    return;
  } finally {
    clearInterval(look);
  }
  then();
}

// A folder that is taken in meanwhile: how far that is, and who was found. Nothing moves under somebody's hand.
const [still, often, seldom] = [1500, 1000, 5000];

function showIntake(place, view) {
  const over = view.job.state !== "waiting" && view.job.state !== "running";
  const bar = place.querySelector("progress");
  bar.hidden = over;
  bar.max = view.job.total || 1;
  if (view.job.total) bar.value = view.job.done;
  else bar.removeAttribute("value");
  place.querySelector("[data-text]").textContent = view.words;
  const button = place.querySelector("[data-do=hold]");
  button.textContent = view.button;
  button.dataset.paused = view.button === "Pause" ? "yes" : "no";
  return over;
}

export async function hold(button) {
  const view = await send("POST", "/api/intake", { paused: button.dataset.paused === "yes" });
  showIntake(button.closest("[data-intake]"), view);
}

export function watchIntake(whenOver) {
  let touched = -still;
  for (const kind of ["pointermove", "pointerdown", "keydown", "wheel", "scroll"]) {
    addEventListener(kind, () => { touched = performance.now(); }, { passive: true, capture: true });
  }
  const isFree = () => performance.now() - touched > still && scrollY < 200 && !document.querySelector("dialog[open]") && !document.activeElement.closest('[data-region="list"]');
  let told = false;
  const look = async () => {
    let over = false;
    if (document.visibilityState === "visible") {
      try {
        const view = await send("GET", "/api/intake");
        const place = document.querySelector("[data-intake]");
        over = showIntake(place, view);
        if (`${view.sets}/${view.files}/${view.unread_files}` !== place.dataset.intake && isFree()) {
          // What the collection is searched by is there from the first person on.
          if (view.sets && !document.querySelector("form[data-live]")) location.reload();
          await refresh();
        }
      } catch {
        // Whether the server answers is told to who asks for something.
      }
    }
    if (over && !told) {
      told = true;
      whenOver();
    }
    setTimeout(look, over ? seldom : often);
  };
  setTimeout(look, often);
}
