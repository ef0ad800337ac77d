// The dialog: why an answer was found, a photo, a moment of a film (film.js), or how far some work is.
import { view } from "./api.js";
import { prepare } from "./jobs.js";

const sheet = document.getElementById("sheet");

export function openSheet(title, inside, way = "Close") {
  const top = document.createElement("div");
  top.className = "bar-top";
  const heading = document.createElement("h1");
  heading.className = "title";
  heading.textContent = title;
  const close = document.createElement("button");
  close.type = "button";
  close.className = "low";
  close.textContent = way;
  close.addEventListener("click", () => sheet.close());
  top.append(heading, close);
  const body = document.createElement("div");
  body.className = "inside";
  body.append(inside);
  sheet.setAttribute("aria-label", title);
  // What is being told stays on top.
  sheet.replaceChildren(top, body, ...sheet.querySelectorAll("#toasts"));
  if (!sheet.open) sheet.showModal();
  close.focus();
  return body;
}

sheet.addEventListener("close", () => sheet.replaceChildren());
sheet.addEventListener("click", (event) => {
  // A click beside the dialog closes it, as people expect.
  if (event.target === sheet) sheet.close();
});

export function words(text) {
  const one = document.createElement("p");
  one.textContent = text;
  return one;
}

// Ask something with two answers, each words or a list of words and names: true, false, or null if the dialog was left.
export function choice(title, said, pictures, yes, no) {
  const box = document.createElement("div");
  box.className = "stack";
  const question = document.createElement("p");
  question.append(...said);
  const row = document.createElement("div");
  row.className = "row";
  const faces = document.createElement("div");
  faces.className = "row";
  for (const src of pictures) {
    const face = document.createElement("img");
    Object.assign(face, { className: "face asked-face", src, alt: "" });
    faces.append(face);
  }
  box.append(faces, question, row);
  return new Promise((resolve) => {
    for (const [word, value] of [[yes, true], [no, false]]) {
      const button = document.createElement("button");
      button.type = "button";
      const inside = document.createElement("span");
      inside.append(...[word].flat());
      button.append(inside);
      button.addEventListener("click", () => {
        resolve(value);
        sheet.close();
      });
      row.append(button);
    }
    sheet.addEventListener("close", () => resolve(null), { once: true });
    openSheet(title, box);
  });
}

// Another view in the dialog: the part of it that has this region, under its own heading.
async function showView(address, region, title) {
  openSheet(title, words("Looking …"));
  let fresh;
  try {
    fresh = await view(address);
  } catch (reason) {
    if (sheet.open) openSheet(title, words(reason.message));
    return;
  }
  const part = fresh.querySelector(`[data-region="${region}"]`);
  if (!sheet.open) return;
  const waiting = fresh.querySelector("[data-preparing]");
  if (waiting) {
    openSheet(title, document.adoptNode(waiting));
    prepare(waiting, () => waiting.isConnected && showView(address, region, title));
    return;
  }
  if (!part) {
    openSheet(title, words(fresh.querySelector("main p")?.textContent || "That did not work."));
    return;
  }
  part.removeAttribute("data-region");
  openSheet(fresh.querySelector("main h1").textContent, document.adoptNode(part));
}

export const why = (address) => showView(address, "evidence", "Why this answer?");

export const photo = (address) => showView(address, "photo", "Photo");
