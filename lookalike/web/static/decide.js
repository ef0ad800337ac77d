// Decisions: say, show what moved, offer to take it back.
import { refresh, send } from "./api.js";
import { called, fail, tell } from "./toast.js";

export const said = { same: "the same person", different: "not the same person", unsure: "unsure" };
// What was decided in this view, the last at the end: what z takes back.
const made = [];

// Say what was decided, with a way back.
export function offerBack(words, numbers) {
  if (!numbers.length) return tell(words);
  made.push(numbers);
  return tell(words, { act: () => undoAndShow(numbers), back: numbers });
}

export function undoLast() {
  return made.length ? undoAndShow(made.at(-1)) : tell("Nothing to take back here. Older decisions are in History.");
}

// The numbers of the decisions that were not there before: what an undo takes back, and nothing older.
export async function decide(path, asked) {
  return (await send("POST", path, asked)).new;
}

export function judge(query, targets, verdict) {
  return decide("/api/judgements", { query, targets, verdict });
}

// All of them, or none.
export async function takeBack(numbers) {
  if (numbers.length) await send("POST", "/api/judgements/undo", { numbers });
}

const rows = () => [...document.querySelectorAll(".answer[data-key]")];

// Fetch the answers again and show what moved: which answers, from where and how many is for the server to say,
// so that rows, banner and message agree. Returns that in words.
export async function refreshAnswers() {
  const before = rows();
  const tops = new Map(before.map((row) => [row.dataset.key, row.getBoundingClientRect().top]));
  await refresh();
  const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
  for (const row of rows()) {
    const shift = tops.get(row.dataset.key) - row.getBoundingClientRect().top;
    if (!calm && shift) row.animate([{ transform: `translateY(${shift}px)` }, { transform: "none" }], { duration: 260, easing: "ease-out" });
    const tag = row.querySelector(".was");
    if (!tag) continue;
    tag.hidden = false;
    row.classList.add("moved");
  }
  const moved = document.getElementById("changed")?.dataset.moved;
  return moved ? ` Your decisions moved ${moved}.` : "";
}

export async function judgeRow(button) {
  const row = button.closest(".answer");
  const query = button.closest("[data-query]").dataset.query;
  const place = rows().indexOf(row);
  const { verdict } = button.dataset;
  const { title } = row.dataset;
  for (const one of row.querySelectorAll("button")) one.disabled = true;
  try {
    const numbers = await judge(query, [row.dataset.key], verdict);
    const change = await refreshAnswers();
    const next = rows()[Math.min(place + (verdict === "unsure" ? 1 : 0), rows().length - 1)];
    next?.querySelector(`[data-verdict="${verdict}"]`)?.focus({ preventScroll: true });
    const then = numbers.length ? (verdict === "unsure" ? "" : change) : " You had said so already.";
    offerBack([called(title), `: ${said[verdict]}.${then}`], numbers);
  } catch (reason) {
    for (const one of row.querySelectorAll("button")) one.disabled = false;
    const lost = reason.status === 404;
    tell(lost ? [called(title), `: nothing was saved. ${reason.message}`] : reason.message, { bad: true });
    // Refused by what was done elsewhere: show how it is now.
    if (lost || reason.status === 409) await refreshAnswers();
  }
}

export async function undoAndShow(numbers) {
  try {
    await takeBack(numbers);
    const place = made.indexOf(numbers);
    if (place >= 0) made.splice(place, 1);
    await (rows().length ? refreshAnswers() : refresh());
    tell("Taken back.");
  } catch (reason) {
    fail(reason);
  }
}

// One decision of the history, or all that were made together.
export async function undoSome(button) {
  button.disabled = true;
  try {
    const { decisions } = await send("POST", "/api/judgements/undo", { numbers: button.dataset.numbers.split(" ").map(Number) });
    await refresh();
    tell(await stillHeld(decisions));
    document.getElementById("main").focus({ preventScroll: true });
  } catch (reason) {
    button.disabled = false;
    fail(reason);
  }
}

// What an undo has come to: a name may hold together what was confirmed one by one.
async function stillHeld(undone) {
  const back = undone.length > 1 ? `${undone.length} decisions are taken back.` : "Taken back.";
  // Those made together are all on one query.
  const [first] = undone;
  if (first?.kind !== "same") return back;
  const { person } = await send("GET", `/api/sets/${first.sets[0].key}`).catch(() => ({}));
  if (!person) return back;
  const { sets } = await send("GET", `/api/people/${person.number}`);
  const theirs = new Set(sets.map((one) => one.key));
  const held = undone.filter((one) => one.sets.every((each) => theirs.has(each.key))).length;
  if (!held) return back;
  const who = held === 1 ? "both are" : `${held + 1} clips are`;
  return [`${back} But ${who} still named `, called(person.name), `: to part them, take the ${held === 1 ? "clip" : "clips"} out on that person’s page.`];
}

// A set that was confirmed or rejected by mistake, where it is seen: a name lets it go, or the decisions are undone.
export async function amend(button) {
  const { person, key, numbers, title } = button.dataset;
  if (person) {
    const split = await decide(`/api/people/${person}/split`, { sets: [key] });
    await refreshAnswers();
    offerBack([called(title), " is taken out."], split);
  } else {
    await takeBack(numbers.split(" ").map(Number));
    await refreshAnswers();
    tell([called(title), " is undecided again."]);
  }
}
