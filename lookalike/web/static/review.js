// Review: one face after another, with keys or clicks, one by one or many at once.
import { judge, said, takeBack } from "./decide.js";
import { makeOne } from "./people.js";
import { why } from "./sheet.js";
import { called, fail, tell } from "./toast.js";

const words = { same: "✓ same", different: "✕ not", unsure: "? unsure" };
const verdicts = { y: "same", n: "different", u: "unsure" };

export function review(place) {
  const query = place.dataset.query;
  const crops = [...place.querySelectorAll(".crop")];
  const counter = document.getElementById("chosen");
  const done = [];
  // One request after the other: decisions keep the order in which they were made, however fast the keys.
  let line = Promise.resolve();
  let current = Math.max(0, crops.findIndex((crop) => !crop.dataset.verdict));
  let from = current;

  const chosen = () => crops.filter((crop) => crop.classList.contains("chosen"));

  function go(place, focus = true) {
    crops[current]?.setAttribute("tabindex", "-1");
    current = Math.max(0, Math.min(crops.length - 1, place));
    crops[current]?.setAttribute("tabindex", "0");
    if (focus) {
      crops[current]?.focus({ preventScroll: true });
      crops[current]?.scrollIntoView({ block: "nearest" });
    }
  }

  function choose(crop, on) {
    crop.classList.toggle("chosen", on);
    crop.setAttribute("aria-selected", String(crop.classList.contains("chosen")));
    const count = chosen().length;
    counter.textContent = count ? `${count} selected` : "";
  }

  function stamp(crop, verdict) {
    const mark = crop.querySelector(".stamp");
    if (verdict) crop.dataset.verdict = verdict;
    else delete crop.dataset.verdict;
    mark.className = `stamp ${verdict || ""}`;
    mark.textContent = words[verdict] || "";
    mark.hidden = !verdict;
  }

  function next() {
    const after = crops.findIndex((crop, place) => place > current && !crop.dataset.verdict);
    go(after >= 0 ? after : current);
  }

  function offerToJoin(crop) {
    const { name, intoName } = crop.dataset;
    tell([called(crop.dataset.title), " is named ", called(name), ". Are ", called(name), " and ", called(intoName), " one person?"], {
      offer: "Make them one",
      act: () => {
        const targets = crops.filter((one) => one.dataset.person === crop.dataset.person);
        decide(targets, "same", () => makeOne(crop));
      },
    });
  }

  function say(verdict) {
    const meant = chosen().length ? chosen() : [crops[current]].filter(Boolean);
    // Clips that are named after somebody else are not the same by a key alone: two people would become one.
    const targets = meant.filter((crop) => verdict !== "same" || !crop.dataset.person || crop.dataset.verdict === "same");
    const other = meant.find((crop) => !targets.includes(crop));
    if (other) offerToJoin(other);
    if (targets.length) decide(targets, verdict, () => judge(query, targets.map((crop) => crop.dataset.key), verdict));
  }

  // Show it at once, then have it kept; what is refused is shown as it was.
  function decide(targets, verdict, keep) {
    const before = targets.map((crop) => crop.dataset.verdict);
    for (const crop of targets) {
      choose(crop, false);
      stamp(crop, verdict);
    }
    next();
    line = line.then(keep).then(
      (numbers) => {
        if (numbers.length) done.push({ numbers, targets, before });
        const what = targets.length === 1 ? called(targets[0].dataset.title) : `${targets.length} clips`;
        tell([what, `: ${said[verdict]}. ${numbers.length ? "Press z to undo." : "You had said so already."}`]);
      },
      (reason) => {
        targets.forEach((crop, place) => stamp(crop, before[place]));
        fail(reason);
      },
    );
  }

  function undo() {
    line = line.then(async () => {
      const last = done.at(-1);
      if (!last) return tell("Nothing to take back here. Older decisions are in History.");
      await takeBack(last.numbers);
      done.pop();
      last.targets.forEach((crop, place) => stamp(crop, last.before[place]));
      go(crops.indexOf(last.targets[0]));
      return tell("Taken back.");
    }).catch(fail);
  }

  place.addEventListener("click", (event) => {
    const button = event.target.closest("[data-review]");
    if (button) return button.dataset.review === "undo" ? undo() : say(button.dataset.review);
    const crop = event.target.closest(".crop");
    if (!crop) return undefined;
    const place = crops.indexOf(crop);
    if (event.shiftKey) {
      for (const one of crops.slice(Math.min(from, place), Math.max(from, place) + 1)) choose(one, true);
    } else {
      choose(crop);
      from = place;
    }
    return go(place);
  });
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches("input, select, textarea") || document.querySelector("dialog[open]")) return;
    const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    if (verdicts[key]) say(verdicts[key]);
    else if (key === "j" || key === "ArrowRight") go(current + 1);
    else if (key === "k" || key === "ArrowLeft") go(current - 1);
    else if (key === "z") undo();
    else if (key === "Enter" && event.target.matches(".crop")) why(crops[current].dataset.why).catch(fail);
    else if (key === "x" || (key === " " && event.target.matches(".crop"))) { from = current; choose(crops[current]); }
    else if (key === "a") crops.filter((crop) => !crop.dataset.verdict).forEach((crop) => choose(crop, true));
    else if (key === "Escape") chosen().forEach((crop) => choose(crop, false));
    else return;
    event.preventDefault();
  });
  go(current);
}
