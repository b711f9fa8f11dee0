/** Light or dark: as the system says, until somebody chooses. The choice is this browser's, not the address's. */

import type { Theme } from "./colours";

export type Choice = "auto" | "light" | "dark";

const KEY = "mayfly-theme";
const system = matchMedia("(prefers-color-scheme: dark)");

export function themeChoice(): Choice {
  try {
    const kept = localStorage.getItem(KEY);
    return kept === "light" || kept === "dark" ? kept : "auto";
  } catch {
    return "auto";
  }
}

export function theme(): Theme {
  return document.documentElement.dataset["theme"] === "dark" ? "dark" : "light";
}

export function applyTheme(choice: Choice): void {
  const dark = choice === "dark" || (choice === "auto" && system.matches);
  document.documentElement.dataset["theme"] = dark ? "dark" : "light";
  document.documentElement.style.colorScheme = dark ? "dark" : "light";
}

export function chooseTheme(choice: Choice): void {
  try {
    localStorage.setItem(KEY, choice);
  } catch {
    // Without storage the choice holds until the page is closed.
  }
  applyTheme(choice);
}

/** Calls back when the system changes. */
export function onSystemTheme(changed: () => void): void {
  system.addEventListener("change", () => changed());
}

const still = matchMedia("(prefers-reduced-motion: reduce)");

export function reducedMotion(): boolean {
  return still.matches;
}
