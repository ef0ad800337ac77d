// A moment of a film: it is played, and whoever is seen has a box that leads to every other clip of them.
import { send } from "./api.js";
import { openSheet, words } from "./sheet.js";

const drawing = "http://www.w3.org/2000/svg";
// Seconds of boxes that are asked for at a time, and that are left when the next are asked for.
const stretch = 20;
const spare = 5;
// Seconds for which a box stays behind the last look at a face: a frame or two of the usual five a second.
const held = 0.3;

function drawn(name, attributes, ...inside) {
  const made = document.createElementNS(drawing, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...inside);
  return made;
}

function called(one) {
  return one.person ? one.person.name : one.title;
}

// Where a face is: from look to look in even motion; nothing before the first and behind the last.
export function boxAt(looks, time) {
  const after = looks.findIndex((look) => look[0] >= time);
  const last = looks.at(-1);
  if (after < 0) return time <= last[0] + held ? last.slice(1) : null;
  if (after === 0) return looks[0][0] - time < held ? looks[0].slice(1) : null;
  const [from, to] = [looks[after - 1], looks[after]];
  const share = (time - from[0]) / (to[0] - from[0]);
  return from.slice(1).map((side, place) => side + share * (to[place + 1] - side));
}

// A box and a name for everybody of a stretch; drawn once, moved with every frame.
function figure(one, number, size) {
  const around = drawn("rect", { class: "around" });
  const label = drawn("rect", { class: "label", width: size * (0.5 + 0.6 * String(number).length), height: size });
  const text = drawn("text", { "font-size": size * 0.85 }, String(number));
  const box = drawn("a", { href: `/sets/${one.key}`, class: one.asked ? "asked" : "other", "aria-label": `${number}: ${called(one)}` },
    drawn("title", {}, called(one)), around, label, text);
  const link = document.createElement("a");
  link.href = `/sets/${one.key}`;
  const name = document.createElement("bdi");
  name.textContent = called(one);
  link.append(`${number} `, name);
  const item = document.createElement("li");
  if (one.asked) item.className = "asked-name";
  item.append(link);
  const move = (time) => {
    const at = boxAt(one.looks, time);
    box.style.display = item.style.display = at ? "" : "none";
    if (!at) return;
    const [x, y, width, height] = at;
    const top = Math.max(y, size);
    for (const [key, value] of Object.entries({ x, y, width, height })) around.setAttribute(key, value);
    label.setAttribute("x", x);
    label.setAttribute("y", top - size);
    text.setAttribute("x", x + size / 4);
    text.setAttribute("y", top - size / 5);
  };
  return { box, item, move };
}

export function film(from) {
  const { film: address, time, title, asked = "" } = from.dataset;
  const box = document.createElement("div");
  box.className = "stack";
  const screen = document.createElement("div");
  screen.className = "screen";
  const video = document.createElement("video");
  video.controls = true;
  video.preload = "metadata";
  const boxes = drawn("svg", { class: "boxes", role: "group", "aria-label": "Who is seen" });
  const names = document.createElement("ul");
  names.className = "names";
  let figures = [];
  let known = { at: 0, until: -1 };
  let asking = false;
  const ask = async () => {
    // One question at a time; whoever moved on meanwhile is asked for with the next frame.
    if (asking) return;
    asking = true;
    const at = Math.max(0, video.currentTime - 1);
    try {
      const told = await send("GET", `/api${address}/moment?at=${at}&ahead=${stretch}&asked=${asked}`);
      known = told;
      // The film and the boxes share one scale: that of the frames.
      const size = Math.max(video.videoWidth, video.videoHeight) / 28;
      boxes.setAttribute("viewBox", `0 0 ${video.videoWidth} ${video.videoHeight}`);
      const ordered = told.tracks.toSorted((a, b) => a.looks[0][0] - b.looks[0][0] || a.looks[0][1] - b.looks[0][1]);
      figures = ordered.map((one, place) => figure(one, place + 1, size));
      // Who is asked for is drawn over the others.
      boxes.replaceChildren(...figures.map((one) => one.box).sort((a, b) => a.classList.contains("asked") - b.classList.contains("asked")));
      names.replaceChildren(...figures.map((one) => one.item));
      for (const one of figures) one.move(video.currentTime);
    } catch {
      // The film is shown all the same; boxes are asked for again a little later.
      known = { at, until: at + 2 * spare };
    }
    asking = false;
  };
  const look = () => {
    if (!video.isConnected) return;
    const now = video.currentTime;
    if (video.videoWidth && (now < known.at || now > known.until - spare) && !(video.ended && known.until > now)) ask();
    for (const one of figures) one.move(now);
    requestAnimationFrame(look);
  };
  video.addEventListener("loadedmetadata", () => {
    video.currentTime = Number(time);
    video.play().catch(() => {});
    requestAnimationFrame(look);
  }, { once: true });
  video.addEventListener("error", () => {
    const minutes = Math.floor(Number(time) / 60);
    const seconds = String(Math.floor(Number(time) % 60)).padStart(2, "0");
    screen.replaceWith(words(`This video cannot be played here: it has moved, or the browser does not know its kind. Open it in your own player and go to ${minutes}:${seconds}.`));
  });
  video.src = address;
  screen.append(video, boxes);
  box.append(screen, names);
  openSheet(title, box);
}
