/** From a slider that moves to the figures, in headless Chromium: a table to read, no bounds. `npm run timings`. */

import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { drop, hashOf, launch, serve, settled, visit } from "../browser/browsers";

const OFFICE = fileURLToPath(new URL("../../../captures/office.pcap.gz", import.meta.url));
const TURNS = 9;
const ROWS: [string, string, boolean][] = [
  ["office capture", "", true],
  ["`office`", "#workload=office&d=fifo&d=lfq", false],
  ["`home`", "#workload=home&d=fifo&d=lfq", false],
  ["`isp`, some 10^5 packets", "#workload=isp&d=fifo&d=lfq", false],
];

const median = (values: number[]): number => [...values].sort((a, b) => a - b)[values.length >> 1] ?? Number.NaN;

it("tells how soon figures come", async () => {
  const [site, browser] = [await serve(), await launch("chrome")];
  const lines = ["| workload | first column | both columns |", "|---|---:|---:|"];
  for (const [title, hash, captured] of ROWS) {
    const { page, faults } = await visit(browser, site, hash);
    await settled(page);
    if (captured) {
      await drop(page, "office.pcap.gz", readFileSync(OFFICE));
      await hashOf(page, /capture=office/);
      await settled(page);
    }
    const [first, all]: [number[], number[]] = [[], []];
    for (let turn = 0; turn < TURNS; turn += 1) {
      const took = await page.evaluate(async () => {
        const slider = document.querySelector<HTMLInputElement>("[aria-label='Rate down'][type=range]");
        if (slider === null) throw new Error("no slider");
        const old = (): number => document.querySelectorAll(".figure-table td.old").length;
        const frame = (): Promise<number> => new Promise((resolve) => requestAnimationFrame(resolve));
        const begun = performance.now();
        slider.stepDown();
        slider.dispatchEvent(new Event("input", { bubbles: true }));
        let most = old();
        let some = 0;
        for (;;) {
          await frame();
          const now = old();
          most = Math.max(most, now);
          if (some === 0 && most > 0 && now < most) some = performance.now() - begun;
          if (most > 0 && now === 0) return [some, performance.now() - begun];
        }
      });
      first.push(took[0] ?? 0);
      all.push(took[1] ?? 0);
      await settled(page);
    }
    expect(faults).toEqual([]);
    lines.push(`| ${title} | ${median(first).toFixed(0)} ms | ${median(all).toFixed(0)} ms |`);
    await page.close();
  }
  process.stdout.write(`${lines.join("\n")}\n`);
  await browser.close();
  await site.close();
}, 600_000);
