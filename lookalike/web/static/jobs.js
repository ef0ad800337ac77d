// Long work: how far it is, until it ends.
import { send } from "./api.js";

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
  if (job.total) {
    bar.max = job.total;
    bar.value = job.done;
  } else {
    bar.removeAttribute("value");
  }
  const left = job.left > 1 ? `, about ${Math.ceil(job.left)} s left` : "";
  text.textContent = (job.text || "Working") + (job.total ? `: ${job.done} of ${job.total}` : "") + left;
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
    const running = jobs.find((job) => job.state === "running");
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
