// Photos or a clip of one's own: dropped or chosen, sent, looked through, then shown.
import { send } from "./api.js";
import { openSheet } from "./sheet.js";
import { fail } from "./toast.js";

const sheet = document.getElementById("sheet");

function progressBox(note) {
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

function post(files, onSent) {
  return new Promise((resolve, reject) => {
    const form = new FormData();
    for (const file of files) form.append("files", file, file.name);
    const request = new XMLHttpRequest();
    request.open("POST", "/api/uploads");
    request.setRequestHeader("X-Lookalike", "1");
    request.responseType = "json";
    request.upload.onprogress = (event) => onSent(event.loaded, event.total);
    request.onload = () => (request.status < 300 ? resolve(request.response) : reject(new Error(request.response?.error || "That could not be read.")));
    request.onerror = () => reject(new Error("The server does not answer. Is lookalike still running?"));
    request.send(form);
  });
}

export async function upload(files) {
  if (!files.length) return;
  const { box, bar, text } = progressBox("Reading …");
  openSheet("Looking for faces", box);
  let number = null;
  const stop = () => number !== null && send("DELETE", `/api/jobs/${number}`).catch(() => {});
  sheet.addEventListener("close", stop, { once: true });
  try {
    const job = await post(files, (sent, all) => { bar.max = all; bar.value = sent; });
    number = job.number;
    bar.removeAttribute("value");
    const done = await follow(number, (step) => show(step, bar, text));
    sheet.removeEventListener("close", stop);
    location.assign(`/uploads/${done.result}`);
  } catch (reason) {
    sheet.removeEventListener("close", stop);
    sheet.close();
    fail(reason);
  }
}

export async function keep(key, person) {
  const { box, bar, text } = progressBox("Saving …");
  openSheet("Keeping in the collection", box);
  try {
    const job = await send("POST", `/api/uploads/${key}/keep`, {});
    const done = await follow(job.number, (step) => show(step, bar, text));
    const keys = done.result.split(",").filter(Boolean);
    const whose = person === undefined && keys.length === 1 ? keys[0] : keys[Number(person)];
    location.assign(whose ? `/sets/${whose}` : "/?sort=added");
  } catch (reason) {
    sheet.close();
    fail(reason);
  }
}

export async function forget(key) {
  await send("DELETE", `/api/uploads/${key}`);
  location.assign("/");
}

export function watchDrops() {
  const veil = document.getElementById("drop");
  const carries = (event) => [...(event.dataTransfer?.types || [])].includes("Files");
  let depth = 0;
  addEventListener("dragenter", (event) => {
    if (!carries(event)) return;
    depth += 1;
    veil.classList.add("open");
  });
  addEventListener("dragleave", () => {
    depth = Math.max(0, depth - 1);
    if (!depth) veil.classList.remove("open");
  });
  addEventListener("dragover", (event) => carries(event) && event.preventDefault());
  addEventListener("drop", (event) => {
    if (!carries(event)) return;
    event.preventDefault();
    depth = 0;
    veil.classList.remove("open");
    upload([...event.dataTransfer.files]);
  });
  const chooser = document.getElementById("files");
  chooser.addEventListener("change", () => {
    upload([...chooser.files]);
    chooser.value = "";
  });
}

// The page that waits for the collection to be searchable: ask, show how far it is, then come back.
export async function prepare(place) {
  const bar = place.querySelector("progress");
  const text = place.querySelector("[data-text]");
  const look = setInterval(async () => {
    const { jobs } = await send("GET", "/api/jobs").catch(() => ({ jobs: [] }));
    const running = jobs.find((job) => job.state === "running");
    if (running) show(running, bar, text);
  }, 600);
  try {
    await send("POST", "/api/searches", { ...JSON.parse(place.dataset.ask), top: 1 });
    location.reload();
  } catch (reason) {
    text.textContent = reason.message;
  } finally {
    clearInterval(look);
  }
}
