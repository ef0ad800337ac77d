// What others do to the collection while the page is open: look now and then, say so, and show it when asked to.
import { refresh, send } from "./api.js";
import { refreshAnswers } from "./decide.js";
import { fail } from "./toast.js";

const often = 4000;

// Words with a button that shows it; nothing moves under somebody's hand unasked.
function offer(note, words) {
  const text = document.createElement("p");
  text.textContent = words;
  const button = document.createElement("button");
  button.type = "button";
  button.className = "low";
  button.textContent = "Show";
  button.addEventListener("click", () => {
    note.remove();
    // Answers show what moved; other views are fetched as a whole.
    if (document.querySelector('[data-region="asked"]')) refreshAnswers().catch(fail);
    else location.reload();
  });
  note.replaceChildren(text, button);
  return note;
}

// The search is renewed by asking, by whichever method these answers were found.
async function lookForNewer(note) {
  const found = await send("POST", "/api/searches", { ...JSON.parse(note.dataset.ask), top: 1 });
  if (!note.isConnected) return;
  // Where nobody is shown yet, nobody is disturbed by who appears.
  if ("nobody" in note.dataset) {
    await refresh();
    return;
  }
  if (found.newer) return;
  note.dataset.over = "yes";
  offer(note, "What is new can be searched now.");
}

async function lookForChanges(main, news) {
  const { version } = await send("GET", "/api/gallery");
  const known = main.dataset.version;
  main.dataset.version = version;
  if (!known || known === version) return;
  const note = document.createElement("div");
  note.className = "note warm row section-bottom";
  news.replaceChildren(offer(note, "The collection has changed meanwhile."));
}

export function watch() {
  const main = document.getElementById("main");
  const news = document.getElementById("news");
  const look = async () => {
    if (document.visibilityState === "visible") {
      const note = document.querySelector("#newer:not([data-over])");
      // Whether the server answers is told to who asks for something.
      await (note ? lookForNewer(note) : lookForChanges(main, news)).catch(() => {});
    }
    setTimeout(look, often);
  };
  setTimeout(look, often);
}
