// The mark that stands at an element that was found fault with.

import type { Finding } from "./editor";
import { said, worst } from "./findings";

/** A button that says what was found, and leads to it. */
export function badge(findings: Finding[], choose: () => void): HTMLElement {
  const button = document.createElement("button");
  button.type = "button";
  button.className = `finding-mark ${worst(findings)}`;
  button.textContent = findings.length > 1 ? String(findings.length) : worst(findings) === "info" ? "i" : "!";
  button.title = findings.map((finding) => said(finding).text).join("\n");
  button.setAttribute("aria-label", button.title);
  button.addEventListener("click", choose);
  return button;
}
