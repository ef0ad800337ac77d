// Names: give one, change it, make two people one, take clips out. All of it is a decision, with a way back.
import { refresh, send } from "./api.js";
import { decide, offerBack, refreshAnswers, takeBack } from "./decide.js";
import { choice } from "./sheet.js";
import { called, tell } from "./toast.js";

const clips = (count) => (count === 1 ? "1 clip or photo" : `${count} clips and photos`);

const longest = 200;
const plain = (name) => name.replace(/\s+/g, " ").toLowerCase();

// What was typed, unless nobody can be called so.
export function typed(form, needed = true) {
  const given = form.elements.name.value.trim();
  const letters = [...given].length;
  if (needed && !given) throw new Error("Type a name first.");
  if (letters > longest) throw new Error(`A name has at most ${longest} letters; this one has ${letters}. Shorten it.`);
  return given;
}

// A name like this one that nobody has yet.
async function another(given) {
  const { people } = await send("GET", "/api/people");
  const taken = new Set(people.map((one) => plain(one.name)));
  let number = 2;
  while (taken.has(plain(`${given} ${number}`))) number += 1;
  return `${given} ${number}`;
}

// Two people may have one name: ask whether somebody who is called so already is meant. "new" if nobody is.
async function isMeant(given) {
  const { people } = await send("GET", "/api/people");
  const other = people.find((one) => plain(one.name) === plain(given));
  if (!other) return "new";
  const words = ["There is somebody called ", called(other.name), ` already, with ${clips(other.sets)}.`];
  const pictures = [document.querySelector(".query .face")?.getAttribute("src"), other.cover?.picture].filter(Boolean);
  return choice("Is this the same person?", words, pictures, "Yes, the same person", "No, somebody else");
}

// Whether it may be saved; if somebody else is meant, a name that is free stands in the box.
async function isFree(form, given) {
  const meant = await isMeant(given);
  if (meant === false) {
    form.elements.name.value = await another(given);
    tell(["This person needs a name of their own. Change ", called(form.elements.name.value), " or save it."]);
  }
  if (!meant) form.elements.name.select();
  return meant;
}

export async function name(form) {
  const given = typed(form);
  if (form.dataset.person) return changeName(form, given);
  if (!(await isFree(form, given))) return undefined;
  const made = await decide("/api/people", { name: given, sets: form.dataset.sets.split(" ") });
  await refresh();
  return offerBack(["Saved. This is ", called(given)], made);
}

// On a clip of somebody with several, another name may mean the person or this clip alone.
async function changeName(form, given) {
  const { person, known, key, title } = form.dataset;
  const count = Number(form.dataset.count);
  if (given === known) return tell(["This is ", called(known), " already."]);
  const all = ["Rename ", called(known), ` on all ${count} clips`];
  const one = ["Only this clip is ", called(given)];
  const words = [called(known), ` has ${count} clips and photos, this one among them.`];
  const everywhere = count < 2 || (await choice("What do you want to rename?", words, [], all, one));
  if (everywhere === null) return undefined;
  if (everywhere) return renamed(person, known, given, count);
  const free = await isFree(form, given);
  if (!free) return undefined;
  const made = await (free === "new" ? decide(`/api/people/${person}/split`, { sets: [key], name: given }) : moveTo(given, person, key));
  await refresh();
  return offerBack([called(title), " is ", called(given), " now, and not ", called(known), "."], made);
}

// Out of one person and into another who is there; both, or neither.
async function moveTo(given, person, key) {
  const out = await decide(`/api/people/${person}/split`, { sets: [key] });
  try {
    return [...out, ...(await decide("/api/people", { name: given, sets: [key] }))];
  } catch (reason) {
    await takeBack(out);
    throw reason;
  }
}

async function renamed(person, known, given, count) {
  const made = await decide(`/api/people/${person}/rename`, { name: given });
  document.querySelector("dialog[open]")?.close();
  await refresh();
  return offerBack(["Renamed ", called(known), " to ", called(given), ` on ${clips(count)}.`], made);
}

const numberOf = (form) => form.closest("[data-person]").dataset.person;

export async function rename(form) {
  const given = typed(form);
  await renamed(numberOf(form), form.dataset.known, given, Number(form.dataset.count));
}

// Returns what an undo takes back.
export function makeOne({ dataset }) {
  return decide(`/api/people/${dataset.person}/merge`, { into: Number(dataset.into) });
}

export async function merge(form) {
  const into = form.querySelector('[name="into"]:checked');
  if (!into) throw new Error("Choose who it is.");
  const { person } = form.closest("[data-person]").dataset;
  const made = await makeOne({ dataset: { person, into: into.value } });
  form.closest("dialog").close();
  history.replaceState(null, "", `/people/${into.value}`);
  await refresh();
  offerBack([called(form.dataset.name), " and ", called(into.dataset.name), " are one person now."], made);
}

// An answer that has another name than the query: both people become one, under the name of the query.
export async function join(button) {
  const { name: other, intoName } = button.dataset;
  const made = await makeOne(button);
  await refreshAnswers();
  offerBack([called(other), " and ", called(intoName), " are one person now."], made);
}

export async function split(form) {
  const ticked = [...form.querySelectorAll('[name="set"]:checked')];
  const sets = ticked.map((box) => box.value);
  if (!sets.length) throw new Error("Tick the clips that show somebody else.");
  const given = typed(form, false);
  const made = await decide(`/api/people/${numberOf(form)}/split`, { sets, name: given });
  form.closest("dialog").close();
  await refresh();
  const [who, is] = ticked.length === 1 ? [called(ticked[0].dataset.title), "is"] : [`${ticked.length} clips`, "are"];
  offerBack([who, ` ${is} taken out`, ...(given ? [" and called ", called(given)] : []), "."], made);
}
