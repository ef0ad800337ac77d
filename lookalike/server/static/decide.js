// Decisions: say, show what moved, offer to take it back.
import { refresh, send } from "./api.js";
import { called, fail, tell } from "./toast.js";

const said = { same: "Confirmed", different: "Noted: not the same person", unsure: "Noted: unsure" };
// What was decided in this view, the last at the end: what z takes back.
const made = [];

// Say what was decided, with a way back.
export function offerBack(words, numbers) {
  if (!numbers.length) return tell(words);
  made.push(numbers);
  return tell(words, { act: () => undoAndShow(numbers) });
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

export function ordinal(number) {
  const rest = number % 100;
  const ending = rest > 10 && rest < 14 ? "th" : { 1: "st", 2: "nd", 3: "rd" }[number % 10] || "th";
  return `${number}${ending}`;
}

const rows = () => [...document.querySelectorAll(".answer[data-key]")];

// Fetch the answers again and mark what moved. Places are compared among the answers that are in both lists,
// so that a row does not count as moved only because the one above it has left.
export async function refreshAnswers() {
  const before = rows();
  const tops = new Map(before.map((row) => [row.dataset.key, row.getBoundingClientRect().top]));
  const old = before.map((row) => row.dataset.key);
  await refresh();
  const after = rows();
  const now = new Set(after.map((row) => row.dataset.key));
  const were = old.filter((key) => now.has(key));
  const stayed = after.filter((row) => tops.has(row.dataset.key));
  const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
  let moved = 0;
  stayed.forEach((row, place) => {
    const was = were.indexOf(row.dataset.key);
    const shift = tops.get(row.dataset.key) - row.getBoundingClientRect().top;
    if (!calm && shift) row.animate([{ transform: `translateY(${shift}px)` }, { transform: "none" }], { duration: 260, easing: "ease-out" });
    if (was === place) return;
    moved += 1;
    row.classList.add("moved");
    const tag = row.querySelector(".was");
    tag.textContent = `was ${ordinal(was + 1)}, now ${ordinal(place + 1)}`;
    tag.classList.add(was > place ? "up" : "down");
    tag.hidden = false;
  });
  return moved;
}

export async function judgeRow(button) {
  const row = button.closest(".answer");
  const query = button.closest("[data-query]").dataset.query;
  const place = rows().indexOf(row);
  const verdict = button.dataset.verdict;
  for (const one of row.querySelectorAll("button")) one.disabled = true;
  try {
    const numbers = await judge(query, [row.dataset.key], verdict);
    const moved = await refreshAnswers();
    const next = rows()[Math.min(place + (verdict === "unsure" ? 1 : 0), rows().length - 1)];
    next?.querySelector(`[data-verdict="${verdict}"]`)?.focus({ preventScroll: true });
    const change = moved ? ` ${moved} ${moved === 1 ? "answer" : "answers"} moved.` : "";
    offerBack(numbers.length ? `${said[verdict]}.${change}` : "You had said so already.", numbers);
  } catch (reason) {
    for (const one of row.querySelectorAll("button")) one.disabled = false;
    fail(reason);
    // Refused by what was decided elsewhere: show how it is now.
    if (reason.status === 404 || reason.status === 409) await refreshAnswers();
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
