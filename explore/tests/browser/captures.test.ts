/** Captures of others, well-formed and not, dropped on the page: figures or a sentence, never a blank page. */

import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import type { Browser } from "puppeteer-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { drop, launch, pathOf, serve, settled, visit, type Site } from "./browsers";

/** Beside the checkout where a session has it; the project is whole without. */
const SHARED = fileURLToPath(new URL("../../../../shared/data/pcap", import.meta.url));
const CAPTURE = /\.(pcap|pcapng|cap|dmp|snoop)(\.gz|\.zst)?$/;
/** Of an archive of many small files, every so many-th is dropped: all of them are read by the reader's own tests. */
const EVERY = 40;

function filesIn(folder: string): string[] {
  return readdirSync(folder).flatMap((name) => (statSync(join(folder, name)).isDirectory() ? filesIn(join(folder, name)) : [join(folder, name)]));
}

describe.skipIf(!existsSync(SHARED) || pathOf("chrome") === null)("captures of others", () => {
  let site: Site, browser: Browser, unpacked: string;
  let all: string[] = [];

  beforeAll(async () => {
    site = await serve();
    browser = await launch("chrome");
    unpacked = mkdtempSync(join(tmpdir(), "captures-"));
    all = filesIn(SHARED).filter((path) => CAPTURE.test(path));
    for (const archive of filesIn(SHARED).filter((path) => path.endsWith(".tar.gz"))) {
      const folder = mkdtempSync(join(unpacked, "of-"));
      execFileSync("tar", ["xzf", archive, "-C", folder]);
      const inside = filesIn(folder).filter((path) => CAPTURE.test(path)).sort();
      all.push(...inside.filter((_, at) => inside.length < EVERY || at % EVERY === 0));
    }
  });
  afterAll(async () => {
    await browser.close();
    await site.close();
    rmSync(unpacked, { recursive: true });
  });

  it("give figures or a sentence, each of them, on one page", async () => {
    const { page, faults } = await visit(browser, site);
    await settled(page);
    expect(all.length).toBeGreaterThan(20);
    let shown = 0;
    for (const path of all) {
      const name = `${String(shown)}-${relative(SHARED, path).replaceAll(/[^A-Za-z0-9.-]/g, "_").slice(-60)}`;
      shown += 1;
      await drop(page, name, readFileSync(path));
      // Either the address names it, or the sentence does.
      await page.waitForFunction(
        (wanted: string) => decodeURIComponent(location.hash).includes(wanted) || (document.querySelector(".trouble:not([hidden])")?.textContent ?? "").includes(wanted),
        { timeout: 120_000, polling: 50 },
        name,
      );
      const there = await page.evaluate(() => document.querySelectorAll(".figure-table td").length);
      expect(there, name).toBeGreaterThan(8);
    }
    await settled(page);
    expect(faults).toEqual([]);
  });
});
