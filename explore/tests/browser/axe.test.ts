/** WCAG 2.2 AA by axe-core: every tab, the dialog and a sentence of trouble, light and dark, wide and narrow. */

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Page } from "puppeteer-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { launch, NARROW, pathOf, serve, settled, visit, type Name, type Site } from "./browsers";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

interface Violation {
  id: string;
  help: string;
  nodes: { target: string[]; failureSummary: string }[];
}

async function violations(page: Page): Promise<string[]> {
  // Through the debugger: the Content-Security-Policy of the page takes no script of others.
  await page.evaluate(AXE);
  const found = await page.evaluate(async () => {
    const { axe } = window as unknown as { axe: { run(context: Document, options: object): Promise<{ violations: Violation[] }> } };
    const result = await axe.run(document, { runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"] });
    return result.violations.map(({ id, help, nodes }) => ({ id, help, nodes: nodes.map(({ target, failureSummary }) => ({ target, failureSummary })) }));
  });
  return found.map(({ id, help, nodes }) => `${id}: ${help}: ${nodes.map(({ target, failureSummary }) => `${target.join(" ")} (${failureSummary})`).slice(0, 3).join("; ")}`);
}

let site: Site;
beforeAll(async () => (site = await serve()));
afterAll(() => site.close());

const COMBINATIONS: [Name, "light" | "dark", "wide" | "narrow"][] = [
  ["chrome", "light", "wide"],
  ["chrome", "dark", "wide"],
  ["chrome", "light", "narrow"],
  ["chrome", "dark", "narrow"],
  ["firefox", "light", "wide"],
  ["firefox", "dark", "narrow"],
];

describe.each(COMBINATIONS)("in %s, %s, %s", (name, theme, width) => {
  it.skipIf(pathOf(name) === null)("axe finds nothing", async () => {
    const browser = await launch(name, { dark: theme === "dark" });
    const found: string[] = [];
    const media = { dark: theme === "dark", reduced: true };
    try {
      for (const state of ["show=queue", "show=response", "show=length", "show=waits", "show=why", "show=take", "show=response&life=0,12", "rate=nonsense", "capture=gone.pcap"]) {
        const workload = state.startsWith("capture") ? state : `workload=home&d=fifo&d=lfq&d=fq_codel(target%3D10ms)&${state}`;
        const { page } = await visit(browser, site, `#${workload}`, media, width === "narrow" ? NARROW : undefined);
        if (state.startsWith("capture")) await page.waitForSelector(".trouble:not([hidden])");
        else await page.waitForFunction(() => document.querySelectorAll(".figure-table td .figure").length > 0 && /\d/.test(document.querySelector(".figure-table .figure")?.textContent ?? ""), { timeout: 300_000 });
        if (state.includes("life")) await page.waitForSelector("dialog[open]");
        else if (!state.startsWith("capture")) await settled(page).catch(() => undefined);
        expect(await page.evaluate(() => document.documentElement.dataset["theme"])).toBe(theme);
        found.push(...(await violations(page)).map((violation) => `${state}: ${violation}`));
        await page.close();
      }
      expect(found).toEqual([]);
    } finally {
      await browser.close();
    }
  });
});
