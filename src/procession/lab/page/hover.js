"use strict";
// Shows what a mark stands for beside the pointer, or beside the mark when it has the focus.
const tip = document.getElementById("tip");
const show = (mark, x, y) => {
  tip.textContent = mark.dataset.tip;
  tip.hidden = false;
  tip.style.left = Math.min(x + 14, innerWidth - tip.offsetWidth - 8) + "px";
  tip.style.top = Math.max(8, y - tip.offsetHeight - 10) + "px";
};
for (const mark of document.querySelectorAll("[data-tip]")) {
  mark.querySelector("title").remove(); // the browser would show it a second time
  mark.setAttribute("aria-label", mark.dataset.tip);
  mark.addEventListener("pointermove", (event) => show(mark, event.clientX, event.clientY));
  mark.addEventListener("pointerleave", () => { tip.hidden = true; });
  mark.addEventListener("focus", () => { const box = mark.getBoundingClientRect(); show(mark, box.right, box.top); });
  mark.addEventListener("blur", () => { tip.hidden = true; });
}
