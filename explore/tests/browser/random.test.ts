/**
 * Random clicks and keys: no error on the console, no exception, no growth of memory.
 *
 * MAYFLY_CLICKS_S seconds (20) in each browser, from MAYFLY_CLICKS_SEED (1). Memory is held to a bound in Chromium, which tells it.
 */

import type { CDPSession, Page } from "puppeteer-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { launch, pathOf, serve, settled, visit, type Name, type Site } from "./browsers";

const SECONDS = Number(process.env["MAYFLY_CLICKS_S"] ?? 20);
const SEED = Number(process.env["MAYFLY_CLICKS_SEED"] ?? 1);

/** What is kept between clicks: outcomes of twelve requests, packets of the parts that are shown. */
const GROWTH_BYTES = 150e6;

function random(seed: number): (below: number) => number {
  let state = seed >>> 0 || 1;
  return (below) => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return Math.floor(((state >>> 0) / 2 ** 32) * below);
  };
}

/** Does one thing to the page, and says what. */
function act(number: number): string {
  const seen = [...document.querySelectorAll<HTMLElement>("button, select, input, summary, [role=tab], canvas, .scatter")].filter((element) => element.offsetParent !== null && !(element as HTMLButtonElement).disabled);
  const scope = document.querySelector("dialog[open]");
  const within = scope ? seen.filter((element) => scope.contains(element)) : seen;
  const element = within[number % within.length];
  if (!element) return "nothing";
  const pick = Math.floor(number / 7);
  const name = `${element.tagName} ${element.getAttribute("aria-label") ?? element.id} ${element.textContent.slice(0, 20)}`;
  if (element instanceof HTMLSelectElement) {
    element.selectedIndex = pick % element.options.length;
    element.dispatchEvent(new Event("change", { bubbles: true }));
  } else if (element instanceof HTMLInputElement && element.type === "range") {
    element.value = String(Number(element.min) + (pick % 1000) / 1000 * (Number(element.max) - Number(element.min)));
    element.dispatchEvent(new Event("input", { bubbles: true }));
  } else if (element instanceof HTMLInputElement && element.type === "text") {
    const words = ["10mbit", "3mbit", "300 packets", "20ms", "nonsense", "", "-1", "1e99", "50kB", "\u0000", "200"];
    element.value = words[pick % words.length] ?? "";
    element.dispatchEvent(new Event("change", { bubbles: true }));
  } else if (element instanceof HTMLInputElement && element.type === "file") {
    return "file";
  } else {
    const box = element.getBoundingClientRect();
    const at = { clientX: box.left + (pick % 97) / 97 * box.width, clientY: box.top + (pick % 89) / 89 * box.height, bubbles: true };
    // A file chooser would wait for somebody, and a file for a place; loading again would end the test.
    if (element.classList.contains("drop") || /SVG|PNG|CSV|Save as|Load again/.test(element.textContent)) return "left alone";
    element.dispatchEvent(new MouseEvent("click", at));
  }
  return name;
}

async function heap(page: Page, session: CDPSession): Promise<number> {
  for (let round = 0; round < 3; round += 1) await session.send("HeapProfiler.collectGarbage");
  await page.evaluate(() => (globalThis as { gc?: () => void }).gc?.());
  const { JSHeapUsedSize } = await page.metrics();
  return JSHeapUsedSize ?? 0;
}

let site: Site;
beforeAll(async () => (site = await serve()));
afterAll(() => site.close());

describe.each<Name>(["chrome", "firefox"])("in %s", (name) => {
  it.skipIf(pathOf(name) === null)(
    `${SECONDS} s of random clicks`,
    async () => {
      const browser = await launch(name, { reduced: false });
      try {
        const { page, faults } = await visit(browser, site, "", { reduced: false });
        await settled(page);
        const next = random(SEED);
        const done: string[] = [];
        const session = name === "chrome" ? await page.createCDPSession() : null;
        const sizes: number[] = [];
        const began = Date.now();
        let noted = began;
        while (Date.now() - began < SECONDS * 1000) {
          done.push(await page.evaluate(act, next(1e6)));
          if (next(4) === 0) await page.keyboard.press((["Tab", "ArrowRight", "ArrowDown", "Escape", "Enter", "Home", "PageUp"] as const)[next(7)] ?? "Tab");
          await new Promise((resolve) => setTimeout(resolve, next(120)));
          expect(faults, done.slice(-12).join("\n")).toEqual([]);
          expect(await page.evaluate(() => document.querySelector("#fatal")?.textContent ?? null), done.slice(-12).join("\n")).toBeNull();
          if (session && Date.now() - noted > Math.max(3000, (SECONDS * 1000) / 12)) {
            noted = Date.now();
            sizes.push(await heap(page, session));
          }
        }
        // eslint-disable-next-line no-console -- what the run was, for the log
        console.log(`${name}: ${done.length} actions in ${SECONDS} s, seed ${SEED}; heap in MB: ${sizes.map((size) => (size / 1e6).toFixed(0)).join(" ") || "not told"}`);
        expect(done.length).toBeGreaterThan(SECONDS / 4);
        const [first, last] = [sizes[0], sizes.at(-1)];
        if (first !== undefined && last !== undefined) expect(last - first, `heap: ${sizes.join(" ")}`).toBeLessThan(GROWTH_BYTES);
        // The page still works.
        await page.goto(`${site.address}?again#workload=office`);
        await settled(page);
      } finally {
        await browser.close();
      }
    },
    SECONDS * 1000 + 600_000,
  );
});
