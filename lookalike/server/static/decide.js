// Decisions: say, show what moved, offer to take it back.
import { refresh, send } from "./api.js";
import { fail, tell } from "./toast.js";

const said = { same: "Confirmed", different: "Noted: not the same person", unsure: "Noted: unsure" };

export async function judge(query, targets, verdict) {
  const answer = await send("POST", "/api/judgements", { query, targets, verdict });
  return answer.decisions.map((one) => one.number);
}

export async function takeBack(numbers) {
  for (const number of [...numbers].reverse()) await send("POST", "/api/judgements/undo", { number });
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
    tell(`${said[verdict]}.${change}`, { undo: () => undoAndShow(numbers) });
  } catch (reason) {
    for (const one of row.querySelectorAll("button")) one.disabled = false;
    fail(reason);
  }
}

export async function undoAndShow(numbers) {
  try {
    await takeBack(numbers);
    await (rows().length ? refreshAnswers() : refresh());
    tell("Taken back.");
  } catch (reason) {
    fail(reason);
  }
}

export async function undoOne(button) {
  button.disabled = true;
  try {
    await takeBack([Number(button.dataset.number)]);
    await refresh();
    tell("Taken back.");
    document.getElementById("main").focus({ preventScroll: true });
  } catch (reason) {
    button.disabled = false;
    fail(reason);
  }
}
