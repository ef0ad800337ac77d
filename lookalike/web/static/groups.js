// Proposed people: yes, no, part some, name; each is one decision, with a way back.
import { refresh } from "./api.js";
import { decide, offerBack, undoLast } from "./decide.js";
import { typed } from "./people.js";
import { fail, called } from "./toast.js";

const keys = (text) => (text || "").split(" ").filter(Boolean);
const clips = (count) => (count === 1 ? "1 clip or photo" : `${count} clips and photos`);
const answer = (asked) => decide("/api/groups", asked);

const groupOf = (one) => {
  const place = one.closest("[data-group]");
  return { place, sets: keys(place.dataset.sets), likely: keys(place.dataset.likely), name: place.dataset.name };
};

// What comes next stands in the place of what was answered.
async function done(words, numbers) {
  const place = document.activeElement?.closest(".proposals > .proposal");
  const at = place ? [...place.parentElement.children].indexOf(place) : -1;
  const whose = place?.parentElement.closest("section")?.getAttribute("aria-labelledby");
  if (document.querySelector("[data-region=person]")) {
    // Whoever was answered may not be here any more.
    offerBack(words, numbers);
    location.assign("/people");
    return;
  }
  await refresh();
  const list = whose ? [...document.querySelectorAll(`[aria-labelledby="${whose}"] .proposal`)] : [];
  list[Math.min(at, list.length - 1)]?.focus();
  offerBack(words, numbers);
}

export async function groupYes(button) {
  const { sets, likely, name } = groupOf(button);
  const all = [...sets, ...likely];
  await done(name ? [clips(likely.length), " more are ", called(name), "."] : [`${clips(all.length)} are one person.`], await answer({ answer: "yes", sets: all }));
}

export async function groupNo(button) {
  const { sets, likely } = groupOf(button);
  const asked = likely.length ? { answer: "no", sets, others: likely } : { answer: "no", sets };
  await done("They will not be proposed as one person again.", await answer(asked));
}

export async function memberYes(button) {
  const { sets } = groupOf(button);
  await done("Added.", await answer({ answer: "yes", sets: [...sets, button.dataset.key] }));
}

export async function memberNo(button) {
  const { sets, likely } = groupOf(button);
  await done("Kept apart.", await answer({ answer: "no", sets: [...sets, ...likely], others: [button.dataset.key] }));
}

const pairOf = (one) => [keys(one.closest("[data-one]").dataset.one), keys(one.closest("[data-one]").dataset.other)];

export async function pairYes(button) {
  await done("They are one person.", await answer({ answer: "yes", sets: pairOf(button).flat() }));
}

export async function pairNo(button) {
  const [sets, others] = pairOf(button);
  await done("They are different people.", await answer({ answer: "no", sets, others }));
}

export async function groupName(form) {
  const given = typed(form);
  const { sets, likely } = groupOf(form);
  const all = [...sets, ...likely];
  await done([`${clips(all.length)} are `, called(given), "."], await answer({ answer: "yes", sets: all, name: given }));
}

export async function groupPart(form) {
  const { sets, likely } = groupOf(form);
  const others = [...form.querySelectorAll('[name="set"]:checked')].map((box) => box.value);
  const staying = [...sets, ...likely].filter((key) => !others.includes(key));
  if (!others.length) throw new Error("Tick who is somebody else.");
  if (!staying.length) throw new Error("One must stay: untick it, or press No.");
  await done([`${clips(others.length)} parted from ${staying.length} others.`], await answer({ answer: "no", sets: staying, others }));
}

// Keys answer the proposal that is looked at: the one with the focus, else the first.
export function listen() {
  const all = () => [...document.querySelectorAll(".proposals > .proposal")];
  const presses = { y: ".yes", n: ".no", p: "[data-part]" };
  addEventListener("keydown", (event) => {
    if (!all().length || event.ctrlKey || event.metaKey || event.altKey || event.target.matches("input, select, textarea") || document.querySelector("dialog[open]")) return;
    const held = document.activeElement?.closest(".proposals > .proposal");
    const at = held ? all().indexOf(held) : -1;
    const one = all()[Math.max(0, at)];
    const key = event.key.toLowerCase();
    if (key === "j" || key === "k") all()[Math.max(0, Math.min(all().length - 1, at + (key === "j" ? 1 : -1)))].focus();
    else if (key === "z") Promise.resolve(undoLast()).catch(fail);
    else if (key === "m") one.querySelector('input[name="name"]')?.focus();
    else if (presses[key]) {
      one.focus();
      one.querySelector(`.says ${presses[key]}`)?.click();
    } else return;
    event.preventDefault();
  });
}
