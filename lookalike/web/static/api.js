// Asking the server: JSON out, JSON in, and a refusal as an Error whose message is a sentence.
import { leave } from "./toast.js";

export async function send(method, path, body) {
  const asked = { method, headers: { "X-Lookalike": "1", Accept: "application/json" } };
  if (body !== undefined) {
    asked.headers["Content-Type"] = "application/json";
    asked.body = JSON.stringify(body);
  } else if (method === "DELETE") {
    asked.headers["Content-Type"] = "application/json";
  }
  const answer = await reach(path, asked);
  const said = await answer.json().catch(() => ({}));
  if (!answer.ok) throw Object.assign(new Error(typeof said.error === "string" ? said.error : "That did not work."), { status: answer.status });
  return said;
}

function reach(path, asked) {
  return fetch(path, asked).catch((reason) => {
    throw reason.name === "AbortError" ? reason : new Error("The server does not answer. Is lookalike still running?");
  });
}

// Another view, or this one as it is now.
export async function view(address, signal) {
  const answer = await reach(address, { headers: { Accept: "text/html" }, signal });
  return new DOMParser().parseFromString(await answer.text(), "text/html");
}

// What only scripts can do waits for them: until then it could be pressed in vain.
export function wake(place = document) {
  for (const one of place.querySelectorAll("[data-wakes]")) one.disabled = false;
}

// Fetch this or another view again and put its regions in the place of the old ones.
export async function refresh(address = location.href, signal = undefined) {
  const fresh = await view(address, signal);
  document.title = fresh.title;
  const { version } = fresh.getElementById("main").dataset;
  if (version) document.getElementById("main").dataset.version = version;
  const held = document.activeElement !== document.body;
  const open = new Set([...document.querySelectorAll("details[open][id]")].map((one) => one.id));
  const regions = [...document.querySelectorAll("[data-region]")];
  if (regions.length && !fresh.querySelector("[data-region]")) {
    // It is gone, or not ready: the whole of that view says so.
    leave();
    location.assign(address);
    return;
  }
  for (const old of regions) {
    const place = fresh.querySelector(`[data-region="${old.dataset.region}"]`);
    if (!place) continue;
    // Pictures that are here already move over: they are not fetched again, and nothing flickers.
    const here = new Map([...old.querySelectorAll("img")].map((image) => [image.getAttribute("src"), image]));
    for (const image of place.querySelectorAll("img")) {
      const same = here.get(image.getAttribute("src"));
      if (!same || !same.complete) continue;
      here.delete(image.getAttribute("src"));
      same.alt = image.alt;
      image.replaceWith(same);
    }
    wake(place);
    // What somebody is typing stays theirs.
    const typing = document.activeElement;
    for (const field of old.querySelectorAll("input[type=text][id]")) {
      const same = place.querySelector(`#${field.id}`);
      if (same && field.value !== field.defaultValue) same.value = field.value;
    }
    old.replaceWith(document.adoptNode(place));
    if (typing?.id && !typing.isConnected) document.getElementById(typing.id)?.focus({ preventScroll: true });
  }
  for (const id of open) document.getElementById(id)?.setAttribute("open", "");
  // Whoever was somewhere is still somewhere, even if what they pressed is gone.
  if (held && document.activeElement === document.body) document.getElementById("main").focus({ preventScroll: true });
}
