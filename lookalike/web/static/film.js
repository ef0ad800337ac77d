// A moment of a film: it is played, and whoever is seen has a box with a number that leads to every other clip of them.
import { send } from "./api.js";
import { openSheet, words } from "./sheet.js";

const drawing = "http://www.w3.org/2000/svg";

function drawn(name, attributes, ...inside) {
  const made = document.createElementNS(drawing, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...inside);
  return made;
}

function called(one) {
  return one.person ? one.person.name : one.title;
}

// The film and the boxes share one scale: that of the frames.
function showBoxes(boxes, names, video, faces) {
  const size = Math.max(video.videoWidth, video.videoHeight) / 28;
  boxes.setAttribute("viewBox", `0 0 ${video.videoWidth} ${video.videoHeight}`);
  boxes.replaceChildren(...faces.map((one) => {
    const [x, y, width, height] = one.box;
    const top = Math.max(y, size);
    return drawn("a", { href: `/sets/${one.key}`, "aria-label": `${one.number}: ${called(one)}` },
      drawn("title", {}, called(one)),
      drawn("rect", { class: "around", x, y, width, height }),
      drawn("rect", { class: "label", x, y: top - size, width: size * (0.5 + 0.6 * String(one.number).length), height: size }),
      drawn("text", { x: x + size / 4, y: top - size / 5, "font-size": size * 0.85 }, String(one.number)));
  }));
  names.replaceChildren(...faces.map((one) => {
    const link = document.createElement("a");
    link.href = `/sets/${one.key}`;
    const name = document.createElement("bdi");
    name.textContent = called(one);
    link.append(`${one.number} `, name);
    const item = document.createElement("li");
    item.append(link);
    return item;
  }));
}

export function film(from) {
  const { film: address, time, title } = from.dataset;
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
  let asking = false;
  let again = false;
  const look = async () => {
    // One question at a time; whoever moved on meanwhile is asked for next.
    again = asking;
    if (asking || !video.isConnected || !video.videoWidth) return;
    asking = true;
    try {
      const told = await send("GET", `/api${address}/moment?at=${video.currentTime}`);
      showBoxes(boxes, names, video, told.faces);
    } catch {
      // The film is shown all the same.
    }
    asking = false;
    if (again) look();
  };
  video.addEventListener("loadedmetadata", () => {
    video.currentTime = Number(time);
    video.play().catch(() => {});
  }, { once: true });
  for (const event of ["seeked", "timeupdate", "pause"]) video.addEventListener(event, look);
  video.addEventListener("error", () => {
    const minutes = Math.floor(Number(time) / 60);
    const seconds = String(Math.floor(Number(time) % 60)).padStart(2, "0");
    screen.replaceWith(words(`This film cannot be played here: it has moved, or the browser does not know its kind. Open it in your own player and go to ${minutes}:${seconds}.`));
  });
  video.src = address;
  screen.append(video, boxes);
  box.append(screen, names);
  openSheet(title, box);
}
