import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { ALL_COLOURS, contrast, GROUNDS } from "../../src/view/colours";

const style = readFileSync(new URL("../../src/style.css", import.meta.url), "utf8");

function variables(block: string): Record<string, string> {
  const body = style.slice(style.indexOf(block) + block.length).split("}")[0] ?? "";
  return Object.fromEntries([...body.matchAll(/--([a-z-]+): (#[0-9a-f]{6});/g)].map(([, name = "", value = ""]) => [name, value] as const));
}

describe("contrast", () => {
  it("is WCAG's", () => {
    expect(contrast("#000000", "#ffffff")).toBeCloseTo(21, 6);
    expect(contrast("#777777", "#ffffff")).toBeCloseTo(4.48, 2);
  });
  it.each(["light", "dark"] as const)("what is drawn has 3:1 on its ground: %s", (theme) => {
    const raised = variables(theme === "light" ? ":root {" : ':root[data-theme="dark"] {')["raised"] ?? "";
    for (const colour of ALL_COLOURS) {
      expect(contrast(colour[theme], GROUNDS[theme]), colour[theme]).toBeGreaterThanOrEqual(3);
      expect(contrast(colour[theme], raised), `${colour[theme]} on ${raised}`).toBeGreaterThanOrEqual(3);
    }
  });
  it.each([":root {", ':root[data-theme="dark"] {'])("text has 4.5:1 on what it stands on: %s", (block) => {
    const own = variables(block);
    for (const name of ["text", "muted", "accent", "better", "worse", "again"]) {
      for (const ground of ["ground", "raised"]) expect(contrast(own[name] ?? "", own[ground] ?? ""), `${name} on ${ground}`).toBeGreaterThanOrEqual(4.5);
    }
    expect(contrast(own["text"] ?? "", own["tint"] ?? "")).toBeGreaterThanOrEqual(4.5);
    expect(contrast(own["text"] ?? "", own["warn"] ?? "")).toBeGreaterThanOrEqual(4.5);
    expect(contrast(own["accent-text"] ?? "", own["accent"] ?? "")).toBeGreaterThanOrEqual(4.5);
    expect(contrast(own["control"] ?? "", own["ground"] ?? "")).toBeGreaterThanOrEqual(3);
  });
});
