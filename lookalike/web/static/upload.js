// Photos or a clip of one's own: dropped or chosen, sent, looked through, then shown.
import { send } from "./api.js";
import { follow, progressBox, show } from "./jobs.js";
import { openSheet } from "./sheet.js";
import { fail, leave, tell } from "./toast.js";

const sheet = document.getElementById("sheet");

// Send files; `stop` of what is returned breaks off.
function post(files, onSent) {
  const request = new XMLHttpRequest();
  const sent = new Promise((resolve, reject) => {
    const form = new FormData();
    for (const file of files) form.append("files", file, file.name);
    request.open("POST", "/api/uploads");
    request.setRequestHeader("X-Lookalike", "1");
    request.responseType = "json";
    request.upload.onprogress = (event) => onSent(event.loaded, event.total);
    request.onload = () => (request.status < 300 ? resolve(request.response) : reject(new Error(request.response?.error || "That could not be read.")));
    request.onerror = () => reject(new Error("The server does not answer. Is lookalike still running?"));
    request.onabort = () => reject(new Error("Stopped."));
    request.send(form);
  });
  return { sent, stop: () => request.abort() };
}

const megabytes = (bytes) => (bytes / 1e6).toFixed(1);

export async function upload(files) {
  if (!files.length) return;
  const { box, bar, text } = progressBox("Sending …");
  openSheet("Looking for faces", box, "Stop");
  let number = null;
  let stopped = false;
  let arrived = false;
  const { sent, stop } = post(files, (done, all) => {
    bar.max = all;
    bar.value = done;
    arrived = done >= all;
    text.textContent = done < all ? `Sending: ${megabytes(done)} of ${megabytes(all)} MB` : "Sent. Looking for faces …";
  });
  // Whoever closes the dialog wants none of it: what is on its way, and what is being done.
  const leave = () => {
    stopped = true;
    if (number !== null) halt();
    // What has arrived is looked through, whether we are there or not: its number comes, and is stopped then.
    else if (!arrived) stop();
  };
  const halt = () => send("DELETE", `/api/jobs/${number}`).catch(() => {});
  sheet.addEventListener("close", leave, { once: true });
  try {
    ({ number } = await sent);
    if (stopped) await halt();
    bar.removeAttribute("value");
    const done = await follow(number, (step) => show(step, bar, text));
    sheet.removeEventListener("close", leave);
    if (stopped) return tell("Stopped. Nothing was kept.");
    location.assign(`/uploads/${done.result}`);
  } catch (reason) {
    sheet.removeEventListener("close", leave);
    if (stopped) return tell("Stopped. Nothing was kept.");
    sheet.close();
    fail(reason);
  }
  return undefined;
}

export async function keep(key, person) {
  const { box, bar, text } = progressBox("Saving …");
  openSheet("Keeping in the collection", box);
  try {
    const job = await send("POST", `/api/uploads/${key}/keep`, {});
    const done = await follow(job.number, (step) => show(step, bar, text));
    const keys = done.result.split(",").filter(Boolean);
    const whose = person === undefined && keys.length === 1 ? keys[0] : keys[Number(person)];
    leave();
    offerUnkeep("Kept in the collection.", key);
    location.assign(whose ? `/sets/${whose}` : "/?sort=added");
  } catch (reason) {
    sheet.close();
    fail(reason);
  }
}

// Say that an upload was kept, with a way back that takes out just what came from it.
export function offerUnkeep(words, key) {
  tell(words, { act: () => unkeep(key).catch(fail), back: key });
}

async function unkeep(key) {
  const { box, bar, text } = progressBox("Taking out …");
  openSheet("Taking out of the collection", box);
  try {
    const job = await send("POST", `/api/uploads/${key}/unkeep`, {});
    await follow(job.number, (step) => show(step, bar, text));
  } catch (reason) {
    sheet.close();
    throw reason;
  }
  leave();
  tell("Taken out of the collection again.");
  location.assign(`/uploads/${key}`);
}

export async function forget(key) {
  await send("DELETE", `/api/uploads/${key}`);
  location.assign("/");
}

// Photos that were dropped together show one person, or they do not.
export async function readTogether(key, together) {
  await send("POST", `/api/uploads/${key}/together`, { together });
  location.assign(`/uploads/${key}`);
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
