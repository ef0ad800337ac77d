// The page: who listens to what. Everything that can be pressed says what it does in data-do.
import { refresh, wake } from "./api.js";
import { amend, judgeRow, offerBack, undoLast, undoSome } from "./decide.js";
import { film } from "./film.js";
import * as groups from "./groups.js";
import { hold, prepare, watchIntake } from "./jobs.js";
import * as people from "./people.js";
import { review } from "./review.js";
import { photo, why } from "./sheet.js";
import { fail, handed, tell } from "./toast.js";
import { forget, keep, offerUnkeep, readTogether, watchDrops } from "./upload.js";
import { watch } from "./watch.js";

function chooseFaces(button) {
  const form = button.closest("form");
  const on = form.classList.toggle("choosing");
  button.setAttribute("aria-pressed", String(on));
  if (!on) for (const box of form.querySelectorAll(".pick input")) box.checked = true;
  for (const one of form.querySelectorAll("[data-shown-when]")) one.hidden = !on;
}

const clicks = {
  judge: judgeRow,
  undo: undoSome,
  join: people.join,
  "group-yes": groups.groupYes,
  "group-no": groups.groupNo,
  "member-yes": groups.memberYes,
  "member-no": groups.memberNo,
  "pair-yes": groups.pairYes,
  "pair-no": groups.pairNo,
  amend,
  why: (link) => why(link.href),
  photo: (link) => photo(link.href),
  film: (from) => from.dataset.film && film(from),
  hold,
  "choose-faces": chooseFaces,
  "choose-files": () => document.getElementById("files").click(),
  keep: (button) => keep(button.dataset.upload, button.dataset.person),
  forget: (button) => forget(button.dataset.upload),
  together: (button) => readTogether(button.dataset.upload, button.dataset.together === "yes"),
  open: (button) => document.getElementById(button.dataset.dialog).showModal(),
  close: (button) => button.closest("dialog").close(),
};

document.addEventListener("click", (event) => {
  const pressed = event.target.closest("[data-do]");
  const act = pressed && !pressed.matches("form") && clicks[pressed.dataset.do];
  if (!act || event.ctrlKey || event.metaKey || event.shiftKey) return;
  // A moment without a film at hand stays the link that it is.
  if (pressed.dataset.do === "film" && !pressed.dataset.film) return;
  event.preventDefault();
  Promise.resolve(act(pressed)).catch(fail);
});

document.addEventListener("submit", (event) => {
  const form = event.target;
  const act = people[form.dataset.do] || groups[form.dataset.do];
  if (act) {
    event.preventDefault();
    const button = form.querySelector('[type="submit"]');
    button.disabled = true;
    act(form).catch(fail).finally(() => { button.disabled = false; });
    return;
  }
  // Ticked faces that are all faces say nothing: leave them out of the address. So are empty fields.
  const boxes = [...form.querySelectorAll(".pick input")];
  if (boxes.length && !boxes.some((box) => box.checked)) {
    event.preventDefault();
    fail(new Error("Tick at least one face."));
    return;
  }
  const idle = [...form.elements].filter((one) => one.name && (one.value === "" || (boxes.includes(one) && boxes.every((box) => box.checked))));
  for (const one of idle) one.disabled = true;
  setTimeout(() => { for (const one of idle) one.disabled = false; }, 0);
});

// The way back to the collection leads to the page and the filter that one came from.
const keepPlace = () => sessionStorage.setItem("collection", location.pathname + location.search);
if (document.querySelector("form[data-live]")) keepPlace();
for (const back of document.querySelectorAll("[data-back]")) back.href = sessionStorage.getItem("collection") || "/";

// The last decision of this view is taken back by a key, as in the review.
addEventListener("keydown", (event) => {
  if (event.key !== "z" || event.ctrlKey || event.metaKey || event.altKey) return;
  if (!document.getElementById("answers") || event.target.matches("input, select, textarea") || document.querySelector("dialog[open]")) return;
  undoLast();
});

// The collection is searched while one types.
const live = document.querySelector("form[data-live]");
if (live) {
  let waiting = null;
  let looking = new AbortController();
  const look = async () => {
    // Only the last word counts, whichever answer comes first.
    looking.abort();
    looking = new AbortController();
    const asked = new URLSearchParams([...new FormData(live)].filter(([, value]) => value !== ""));
    for (const [name, usual] of [["named", "any"], ["sort", "id"], ["quality", "any"]]) if (asked.get(name) === usual) asked.delete(name);
    const address = asked.size ? `/?${asked}` : "/";
    history.replaceState(null, "", address);
    keepPlace();
    await refresh(address, looking.signal).catch((reason) => reason.name === "AbortError" || fail(reason));
  };
  live.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(look, 220);
  });
}

groups.listen();
const grid = document.getElementById("review");
if (grid) review(grid);
const waiting = document.querySelector("[data-preparing]");
if (waiting) prepare(waiting, () => location.reload());
// Told by the page before this one; a way back is offered where what it changes is seen.
for (const { words, bad, back } of handed(waiting !== null)) {
  if (waiting || !back) tell(words, { bad });
  else if (Array.isArray(back)) offerBack(words, back);
  else offerUnkeep(words, back);
}
if (document.querySelector("[data-intake]")) watchIntake(watch);
else if (document.querySelector("[data-region]")) watch();
watchDrops();
wake();
