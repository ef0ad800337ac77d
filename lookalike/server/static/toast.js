// Say what happened, in words, for eyes and for screen readers; an offer to undo stays a little longer.
const most = 2;

export function tell(words, { undo = null, bad = false } = {}) {
  const place = document.getElementById("toasts");
  const toast = document.createElement("div");
  toast.className = bad ? "toast bad" : "toast";
  const text = document.createElement("span");
  text.textContent = words;
  toast.append(text);
  if (undo) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = "Undo";
    button.addEventListener("click", () => {
      toast.remove();
      undo();
    });
    toast.append(button);
  }
  place.append(toast);
  while (place.children.length > most) place.firstElementChild.remove();
  setTimeout(() => toast.remove(), undo || bad ? 9000 : 4500);
}

export function fail(reason) {
  tell(reason.message || "That did not work.", { bad: true });
}
