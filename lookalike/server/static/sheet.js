// The dialog: why an answer was found, a moment of a film, or how far some work is.
const sheet = document.getElementById("sheet");

export function openSheet(title, inside) {
  const top = document.createElement("div");
  top.className = "bar-top";
  const heading = document.createElement("h1");
  heading.className = "title";
  heading.textContent = title;
  const close = document.createElement("button");
  close.type = "button";
  close.className = "low";
  close.textContent = "Close";
  close.addEventListener("click", () => sheet.close());
  top.append(heading, close);
  const body = document.createElement("div");
  body.className = "inside";
  body.append(inside);
  sheet.setAttribute("aria-label", title);
  sheet.replaceChildren(top, body);
  if (!sheet.open) sheet.showModal();
  close.focus();
  return body;
}

sheet.addEventListener("close", () => sheet.replaceChildren());
sheet.addEventListener("click", (event) => {
  // A click beside the dialog closes it, as people expect.
  if (event.target === sheet) sheet.close();
});

function words(text) {
  const one = document.createElement("p");
  one.textContent = text;
  return one;
}

export async function why(link) {
  openSheet("Why this answer?", words("Looking …"));
  const answer = await fetch(link.href);
  const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
  const part = fresh.querySelector('[data-region="evidence"]');
  if (!sheet.open) return;
  if (!part) {
    openSheet("Why this answer?", words(fresh.querySelector("main p")?.textContent || "That did not work."));
    return;
  }
  part.removeAttribute("data-region");
  openSheet(fresh.querySelector("main h1").textContent, document.adoptNode(part));
}

export function film(from) {
  const { film: address, time, title } = from.dataset;
  const box = document.createElement("div");
  box.className = "stack";
  const video = document.createElement("video");
  video.controls = true;
  video.preload = "metadata";
  video.addEventListener("loadedmetadata", () => {
    video.currentTime = Number(time);
    video.play().catch(() => {});
  }, { once: true });
  video.addEventListener("error", () => {
    const minutes = Math.floor(Number(time) / 60);
    const seconds = String(Math.floor(Number(time) % 60)).padStart(2, "0");
    video.replaceWith(words(`This film cannot be played here: it has moved, or the browser does not know its kind. Open it in your own player and go to ${minutes}:${seconds}.`));
  });
  video.src = address;
  box.append(video);
  openSheet(title, box);
}
