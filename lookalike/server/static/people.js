// Names: give one, change it, make two people one, take clips out. All of it is a decision, with a way back.
import { refresh, send } from "./api.js";
import { decide, offerBack, refreshAnswers } from "./decide.js";
import { choice } from "./sheet.js";
import { called, tell } from "./toast.js";

const clips = (count) => (count === 1 ? "1 clip or photo" : `${count} clips and photos`);

// Two people may have one name: ask whether somebody who is called so already is meant.
async function isMeant(given) {
  const { people } = await send("GET", "/api/people");
  const other = people.find((one) => one.name.toLowerCase() === given.replace(/\s+/g, " ").toLowerCase());
  if (!other) return true;
  const words = ["There is somebody called ", called(other.name), ` already, with ${clips(other.sets)}.`];
  const pictures = [document.querySelector(".query .face")?.getAttribute("src"), other.cover?.picture].filter(Boolean);
  return choice("Is this the same person?", words, pictures, "Yes, the same person", "No, somebody else");
}

export async function name(form) {
  const given = form.elements.name.value.trim();
  const person = form.dataset.person;
  if (!given) throw new Error("Type a name first.");
  if (person) {
    const made = await decide(`/api/people/${person}/rename`, { name: given });
    await refresh();
    offerBack(["Renamed to ", called(given)], made);
    return;
  }
  const meant = await isMeant(given);
  if (!meant) {
    form.elements.name.select();
    if (meant === false) tell(["Give this person a name of their own, for instance ", called(`${given} 2`)]);
    return;
  }
  const made = await decide("/api/people", { name: given, sets: form.dataset.sets.split(" ") });
  await refresh();
  offerBack(["Saved. This is ", called(given)], made);
}

const numberOf = (form) => form.closest("[data-person]").dataset.person;

export async function rename(form) {
  const given = form.elements.name.value.trim();
  const made = await decide(`/api/people/${numberOf(form)}/rename`, { name: given });
  form.closest("dialog").close();
  await refresh();
  offerBack(["Renamed to ", called(given)], made);
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
  const sets = [...form.querySelectorAll('[name="set"]:checked')].map((box) => box.value);
  if (!sets.length) throw new Error("Tick the clips that show somebody else.");
  const given = form.elements.name.value.trim();
  const made = await decide(`/api/people/${numberOf(form)}/split`, { sets, name: given });
  form.closest("dialog").close();
  await refresh();
  offerBack("Taken out.", made);
}
