// Names: give one, change it, make two people one, take clips out.
import { refresh, send } from "./api.js";
import { tell } from "./toast.js";

export async function name(form) {
  const called = form.elements.name.value.trim();
  const person = form.dataset.person;
  if (!called) return;
  if (person) {
    await send("POST", `/api/people/${person}/rename`, { name: called });
  } else {
    await send("POST", "/api/people", { name: called, sets: form.dataset.sets.split(" ") });
  }
  await refresh();
  document.getElementById("name")?.blur();
  tell(person ? `Renamed to ${called}.` : `Saved. This is ${called}.`);
}

const numberOf = (form) => form.closest("[data-person]").dataset.person;

export async function rename(form) {
  await send("POST", `/api/people/${numberOf(form)}/rename`, { name: form.elements.name.value.trim() });
  form.closest("dialog").close();
  await refresh();
  tell("Renamed.");
}

export async function merge(form) {
  const into = Number(form.elements.into.value);
  await send("POST", `/api/people/${numberOf(form)}/merge`, { into });
  location.assign(`/people/${into}`);
}

export async function split(form) {
  const sets = [...form.querySelectorAll('[name="set"]:checked')].map((box) => box.value);
  if (!sets.length) throw new Error("Tick the clips that show somebody else.");
  await send("POST", `/api/people/${numberOf(form)}/split`, { sets, name: form.elements.name.value.trim() });
  form.closest("dialog").close();
  await refresh();
  tell("Taken out. You can undo this in History.");
}
