// Say what happened, in words, for eyes and for screen readers; what offers something to do stays a little longer.
const most = 2;

// A name among words: in whatever direction it is written, the words around it stay where they are.
export function called(name) {
  const one = document.createElement("bdi");
  one.textContent = name;
  return one;
}

// `words` is a text, or a list of texts and names; `offer` what the button says.
export function tell(words, { act = null, offer = "Undo", bad = false } = {}) {
  const place = document.getElementById("toasts");
  // While a dialog is open, what is outside of it can neither be seen well nor pressed.
  const above = document.querySelector("dialog:modal") || document.body;
  if (place.parentElement !== above) above.append(place);
  const toast = document.createElement("div");
  toast.className = bad ? "toast bad" : "toast";
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
  let leaving = linger();
  // It stays for as long as somebody is at it.
  for (const kind of ["focusin", "pointerenter"]) toast.addEventListener(kind, () => clearTimeout(leaving));
  for (const kind of ["focusout", "pointerleave"]) toast.addEventListener(kind, () => { clearTimeout(leaving); leaving = linger(); });
}

addEventListener("close", (event) => {
  const place = document.getElementById("toasts");
  if (event.target.contains(place)) document.body.append(place);
}, true);

export function fail(reason) {
  tell(reason.message || "That did not work.", { bad: true });
}
