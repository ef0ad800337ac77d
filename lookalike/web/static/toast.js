// Say what happened, in words, for eyes and for screen readers; what offers something to do stays a little longer.
const most = 2;

// A name among words: in whatever direction it is written, the words around it stay where they are.
export function called(name) {
  const one = document.createElement("bdi");
  one.textContent = name;
  return one;
}

// What is told while the page is on its way to another one is told there: `back` says how it can be undone there,
// as a list of decisions or the key of an upload that was kept.
const stored = "told";
const telling = new WeakMap();
let leaving = false;

function hand({ words, bad, back }) {
  const plain = [words].flat().map((one) => (one instanceof Element ? { name: one.textContent } : one));
  const before = JSON.parse(sessionStorage.getItem(stored) || "[]");
  sessionStorage.setItem(stored, JSON.stringify([...before, { words: plain, bad, back }].slice(-most)));
}

// From now on, what is shown and what will be told is for the next page.
export function leave() {
  if (leaving) return;
  leaving = true;
  sessionStorage.removeItem(stored);
  for (const toast of document.getElementById("toasts").children) hand(telling.get(toast));
}

// Whoever comes back to a page that was left finds it as it was.
addEventListener("pageshow", () => { leaving = false; });

// What the page before has handed on; `stays` if a third one shall tell it too, as after a wait.
export function handed(stays) {
  const told = JSON.parse(sessionStorage.getItem(stored) || "[]");
  if (!stays) sessionStorage.removeItem(stored);
  return told.map((one) => ({ ...one, words: one.words.map((word) => (word.name === undefined ? word : called(word.name))) }));
}

// `words` is a text, or a list of texts and names; `offer` what the button says.
export function tell(words, { act = null, offer = "Undo", bad = false, back = null } = {}) {
  if (leaving) {
    hand({ words, bad, back });
    return;
  }
  const place = document.getElementById("toasts");
  // While a dialog is open, what is outside of it can neither be seen well nor pressed.
  const above = document.querySelector("dialog:modal") || document.body;
  if (place.parentElement !== above) above.append(place);
  const toast = document.createElement("div");
  toast.className = bad ? "toast bad" : "toast";
  telling.set(toast, { words, bad, back });
  // What went wrong is over once something went well.
  if (!bad) for (const old of place.querySelectorAll(".bad")) old.remove();
  const text = document.createElement("span");
  text.append(...[words].flat());
  toast.append(text);
  if (act) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = offer;
    button.addEventListener("click", () => {
      // The button goes; whoever pressed it stays on the page.
      if (toast.contains(document.activeElement)) document.getElementById("main").focus({ preventScroll: true });
      toast.remove();
      act();
    });
    toast.append(button);
  }
  place.append(toast);
  while (place.children.length > most) place.firstElementChild.remove();
  const linger = () => setTimeout(() => toast.remove(), act || bad ? 9000 : 4500);
  let timer = linger();
  // It stays for as long as somebody is at it.
  for (const kind of ["focusin", "pointerenter"]) toast.addEventListener(kind, () => clearTimeout(timer));
  for (const kind of ["focusout", "pointerleave"]) toast.addEventListener(kind, () => { clearTimeout(timer); timer = linger(); });
}

addEventListener("close", (event) => {
  const place = document.getElementById("toasts");
  if (event.target.contains(place)) document.body.append(place);
}, true);

export function fail(reason) {
  tell(reason.message || "That did not work.", { bad: true });
}
