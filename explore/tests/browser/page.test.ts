/** The built page in browsers: what a user does, and what must never happen. */

import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Browser } from "puppeteer-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { drop, figuresOf, hashOf, launch, NARROW, pathOf, serve, settled, textOf, visit, type Name, type Site, type Visit } from "./browsers";

const OFFICE = fileURLToPath(new URL("../../../captures/office.pcap.gz", import.meta.url));

let site: Site;
beforeAll(async () => (site = await serve()));
afterAll(() => site.close());

describe.each<Name>(["chrome", "firefox"])("in %s", (name) => {
  const missing = pathOf(name) === null;
  let browser: Browser;
  let open: Visit[] = [];

  beforeAll(async () => {
    if (!missing) browser = await launch(name);
  });
  afterAll(async () => {
    if (!missing) await browser.close();
  });
  afterEach(async () => {
    for (const { page } of open) await page.close();
    open = [];
  });

  async function here(hash = "", viewport?: { width: number; height: number }): Promise<Visit> {
    const made = await visit(browser, site, hash, {}, viewport);
    open.push(made);
    return made;
  }

  describe.skipIf(missing)("the page", () => {
    it("answers first, with figures for two disciplines", async () => {
      const { page, faults } = await here();
      await settled(page);
      expect(await textOf(page, "#answer")).toMatch(/lfq|fifo/i);
      const figures = (await figuresOf(page)).slice(0, 10);
      expect(figures.filter((text) => /\d/.test(text)).length).toBeGreaterThanOrEqual(8);
      const words = await page.$$eval(".change", (cells) => cells.map((cell) => cell.textContent));
      expect(words.some((text) => /better|worse|same/.test(text))).toBe(true);
      expect(faults).toEqual([]);
    });

    it("computes anew while a slider is moved by the keyboard, and ends on the last position", async () => {
      const { page, faults } = await here("#workload=office&d=fifo&d=lfq");
      await settled(page);
      const before = await figuresOf(page);
      await page.focus("[aria-label='Rate down'][type=range]");
      for (let step = 0; step < 6; step += 1) await page.keyboard.press("ArrowLeft");
      expect(await hashOf(page, /rate=5mbit/)).toContain("rate=5mbit");
      await settled(page);
      const after = await figuresOf(page);
      expect(after).not.toEqual(before);
      // The same state, fresh: the same figures, whatever was given up on the way.
      const other = await here(await page.evaluate(() => location.hash));
      await settled(other.page);
      expect(await figuresOf(other.page)).toEqual(after);
      expect(faults).toEqual([]);
    });

    it("takes exact values with units, and says what is wrong with others", async () => {
      const { page } = await here();
      await settled(page);
      const rate = await page.$(".field .exact");
      if (rate === null) throw new Error("no field");
      const write = async (text: string): Promise<void> => {
        await rate.focus();
        await rate.evaluate((element) => (element as HTMLInputElement).select());
        await page.keyboard.type(text);
        await page.keyboard.press("Enter");
      };
      await write("12.3 Mbit/s");
      await hashOf(page, /rate=12.3mbit/);
      await write("2MB/s");
      expect(await textOf(page, ".field .problem:not([hidden])")).toContain("16mbit");
      expect(await rate.evaluate((element) => element.getAttribute("aria-invalid"))).toBe("true");
      expect(await page.evaluate(() => location.hash)).toContain("rate=12.3mbit");
      await write("8mbit");
      await hashOf(page, /rate=8mbit/);
      expect(await page.$(".field .problem:not([hidden])")).toBeNull();
    });

    it("shares a state by its address, and shows the same after a reload", async () => {
      const hash = "#workload=home&rate=20mbit&up=5mbit&buffer=100ms&rtt=40ms&d=fifo&d=fq_codel&d=lfq&show=length";
      const { page, faults } = await here(hash);
      await settled(page);
      const figures = await figuresOf(page);
      await page.reload();
      await settled(page);
      expect(await figuresOf(page)).toEqual(figures);
      expect(await page.evaluate(() => location.hash)).toBe(hash);
      expect(await page.$eval("#tab-length", (tab) => tab.getAttribute("aria-selected"))).toBe("true");
      expect(faults).toEqual([]);
    });

    it("says what an address has that cannot be", async () => {
      const { page, faults } = await here("#workload=nowhere&rate=fast&d=nonsense");
      await settled(page);
      expect(await textOf(page, ".problems")).toMatch(/nowhere.*rate=.*nonsense/s);
      expect(faults).toEqual([]);
    });

    it("replays a capture that is dropped, names it in the address, and asks for it again", async () => {
      const { page, faults } = await here();
      await settled(page);
      await drop(page, "office.pcap.gz", readFileSync(OFFICE));
      await hashOf(page, /capture=office.pcap.gz/);
      await settled(page);
      expect((await figuresOf(page)).slice(0, 4).filter((text) => /\d/.test(text)).length).toBeGreaterThanOrEqual(3);
      const other = await here(await page.evaluate(() => location.hash));
      await other.page.waitForSelector(".trouble:not([hidden])");
      expect(await textOf(other.page, ".trouble")).toBe("Drop office.pcap.gz on this page again: an address never holds a capture.");
      await drop(other.page, "office.pcap.gz", readFileSync(OFFICE));
      await settled(other.page);
      expect(await figuresOf(other.page)).toEqual(await figuresOf(page));
      expect([...faults, ...other.faults]).toEqual([]);
    });

    const noise = Buffer.from(Array.from({ length: 5000 }, (_, at) => (at * 7919 + 13) % 256));
    const captures: [string, Buffer | { size: number }, RegExp][] = [
      ["noise.pcap", noise, /noise\.pcap/],
      ["empty.pcap", Buffer.alloc(0), /empty/],
      ["huge.pcap", { size: 3e9 }, /3000 MB/],
      ["text.pcap.gz", Buffer.from("no capture at all"), /text\.pcap\.gz/],
      ["header-only.pcap", Buffer.from("d4c3b2a1020004000000000000000000ffff000001000000", "hex"), /header-only\.pcap/],
      ["<img src=x onerror=alert(1)>.pcap", noise, /<img src=x/],
    ];
    it("says a sentence of a capture that cannot be read, and keeps what was there", async () => {
      const { page, faults } = await here();
      await settled(page);
      const figures = await figuresOf(page);
      for (const [file, content, sentence] of captures) {
        await drop(page, file, content);
        await page.waitForFunction((source: string) => new RegExp(source).test(document.querySelector(".trouble:not([hidden])")?.textContent ?? ""), { timeout: 120_000, polling: 50 }, sentence.source);
        const said = await textOf(page, ".trouble");
        expect(said.split("\n").length, said).toBe(1);
        expect(said.length, said).toBeLessThan(400);
      }
      await settled(page);
      expect(await figuresOf(page)).toEqual(figures);
      expect(await page.$("main img")).toBeNull();
      expect(faults).toEqual([]);
    });

    it("reads of a capture that is cut off what is there", async () => {
      const { page, faults } = await here("#workload=office&d=fifo&d=lfq");
      await settled(page);
      await drop(page, "torn.pcap.gz", readFileSync(OFFICE).subarray(0, 300_000));
      await hashOf(page, /capture=torn.pcap.gz/);
      await settled(page);
      expect(faults).toEqual([]);
      // A flow without a round trip: 40 ms are assumed, and can be moved.
      await drop(page, "shreds.pcap.gz", readFileSync(OFFICE).subarray(0, 300));
      await hashOf(page, /capture=shreds.pcap.gz/);
      await settled(page);
      expect(await page.$eval("[aria-label='Round trip'][type=range]", (slider) => (slider as HTMLInputElement).disabled)).toBe(false);
      expect(await textOf(page, "main")).toContain("No round-trip time can be measured in the capture: 40.0 ms is assumed");
      expect(faults).toEqual([]);
    });

    it("says a sentence of an exception, and is never blank", async () => {
      const { page } = await here();
      await settled(page);
      // What a browser sends for an exception of the page; those of a debugger have no message.
      await page.evaluate(() => window.dispatchEvent(new ErrorEvent("error", { message: "made", error: new Error("made for a test") })));
      await page.waitForSelector("#fatal");
      expect(await textOf(page, "#fatal")).toContain("made for a test");
      expect((await figuresOf(page)).length).toBeGreaterThan(0);
    });

    it("tells what an option must be, below its discipline, and the other column stays", async () => {
      const { page, faults } = await here("#workload=office&d=fifo&d=lfq(debt%3Dmuch)");
      await page.waitForSelector(".column-head .problem:not([hidden])");
      expect(await textOf(page, ".column-head .problem:not([hidden])")).toContain("debt");
      await page.waitForFunction(() => /\d/.test(document.querySelector(".figure-table .figure")?.textContent ?? ""), { timeout: 120_000 });
      expect(faults).toEqual([]);
    });

    it("adds, changes and removes disciplines", async () => {
      const { page, faults } = await here();
      await settled(page);
      await page.locator("::-p-text(Add a discipline)").click();
      await page.waitForFunction(() => document.querySelectorAll(".column-head").length === 3);
      await page.select("[aria-label='Discipline of column 3']", "cake");
      await hashOf(page, /d=cake/);
      await settled(page);
      await page.locator("[aria-label='Remove cake, column 3']").click();
      await page.waitForFunction(() => document.querySelectorAll(".column-head").length === 2);
      await settled(page);
      expect(faults).toEqual([]);
    });

    it("lets one become the attacker, and shows what the attack gets", async () => {
      const { page, faults } = await here();
      await settled(page);
      await page.select("#attack", "spaced");
      await hashOf(page, /workload=attack.*attack=spaced/);
      await settled(page);
      const gets = (): Promise<string[]> => page.$$eval(".figure-table tr", (rows) => [...(rows.find((row) => row.textContent.includes("Attacker gets"))?.querySelectorAll(".figure") ?? [])].map((cell) => cell.textContent));
      const before = await gets();
      expect(before.every((text) => /× ?$|\d/.test(text))).toBe(true);
      await page.focus("[aria-label='Rate of the attacker'][type=range]");
      await page.keyboard.press("End");
      await page.keyboard.press("PageDown");
      await settled(page);
      for (const kind of ["split", "new-addresses"]) {
        await page.select("#attack", kind);
        await hashOf(page, new RegExp(`attack=${kind}`));
        await settled(page);
      }
      expect(faults).toEqual([]);
    });

    it("goes by the keyboard: tabs, scrub bar, a transfer and back", async () => {
      const { page, faults } = await here();
      await settled(page);
      await page.focus("#tab-queue");
      await page.waitForFunction(() => !(document.querySelector("[aria-label='Time in the run']") as HTMLInputElement).disabled, { timeout: 120_000 });
      await page.focus("[aria-label='Time in the run']");
      for (let step = 0; step < 5; step += 1) await page.keyboard.press("ArrowRight");
      await hashOf(page, /at=/);
      expect(await page.$eval(".lane canvas", (canvas) => canvas.getAttribute("aria-label"))).toMatch(/packets? waits?/);
      await page.focus("#tab-queue");
      await page.keyboard.press("ArrowRight");
      expect(await page.evaluate(() => document.activeElement?.id)).toBe("tab-response");
      await page.waitForSelector(".scatter canvas");
      await page.focus(".scatter");
      for (const key of ["End", "ArrowLeft", "Enter"] as const) await page.keyboard.press(key);
      await page.waitForSelector("dialog[open] .numbers-list dd", { timeout: 120_000 });
      expect(await textOf(page, ".numbers-list")).toMatch(/Packets sent\d/);
      await page.waitForSelector("dialog[open] canvas");
      await page.keyboard.press("Escape");
      await page.waitForFunction(() => document.querySelector("dialog[open]") === null);
      expect(await page.evaluate(() => document.activeElement?.className)).toContain("scatter");
      await page.focus("#tab-response");
      for (const tab of ["length", "waits", "why", "take"]) {
        await page.keyboard.press("ArrowRight");
        expect(await page.evaluate(() => document.activeElement?.id)).toBe(`tab-${tab}`);
      }
      expect(faults).toEqual([]);
    });

    it("reaches everything with Tab, and shows where the focus is", async () => {
      const { page } = await here();
      await settled(page);
      // Time is moved as soon as packets of the run are there.
      await page.waitForFunction(() => !(document.querySelector(".play") as HTMLButtonElement).disabled, { timeout: 120_000 });
      const seen = new Set<string>();
      for (let step = 0; step < 70; step += 1) {
        await page.keyboard.press("Tab");
        const found = await page.evaluate(() => {
          const element = document.activeElement as HTMLElement;
          const { outlineStyle, outlineWidth } = getComputedStyle(element);
          const name = element.getAttribute("aria-label") ?? (element.id || element.textContent);
          return { name: `${element.tagName} ${name}`, shown: outlineStyle !== "none" && parseFloat(outlineWidth) >= 1, body: element === document.body };
        });
        if (found.body) break;
        expect(found.shown, found.name).toBe(true);
        seen.add(found.name);
      }
      for (const wanted of ["INPUT Rate down", "SELECT workload", "SELECT attack", "SELECT Discipline of column 1", "BUTTON tab-queue", "INPUT Time in the run", "SELECT Colours"]) expect([...seen]).toContain(wanted);
    });

    it("has nothing move by itself with prefers-reduced-motion, and still plays when told", async () => {
      const { page } = await here();
      await settled(page);
      await page.waitForFunction(() => !(document.querySelector(".play") as HTMLButtonElement).disabled, { timeout: 120_000 });
      const clock = (): Promise<string> => textOf(page, ".scrub .clock");
      const before = await clock();
      await new Promise((resolve) => setTimeout(resolve, 600));
      expect([await clock(), await textOf(page, ".play")]).toEqual([before, "Play"]);
      await page.locator(".play").click();
      await page.waitForFunction((old: string) => document.querySelector(".scrub .clock")?.textContent !== old, { timeout: 60_000 }, before);
      expect(await textOf(page, ".play")).toBe("Pause");
    });

    it("shows who waits for whom, the mechanisms, and the queue over time", async () => {
      const { page, faults } = await here("#workload=office&d=fifo&d=lfq&show=waits");
      await page.waitForSelector(".matrix td", { timeout: 120_000 });
      expect(await page.$$eval(".matrix td", (cells) => cells.some((cell) => /\d (ms|µs|s)/.test(cell.textContent)))).toBe(true);
      await page.locator("#tab-why").click();
      await page.waitForSelector("#panel-why .model td");
      expect(await page.$eval("#panel-why a", (link) => link.getAttribute("href"))).toMatch(/^\.\.\/[a-z-]+/);
      await page.locator("#tab-length").click();
      await page.waitForSelector("#panel-length canvas");
      expect(await textOf(page, "#panel-length table")).toMatch(/lfq/);
      expect(faults).toEqual([]);
    });

    it("gives lines and files to take along", async () => {
      const { page, faults } = await here("#workload=office&rate=10mbit&buffer=300&d=fifo&d=lfq&show=take");
      await settled(page);
      expect(await textOf(page, "#take-command")).toMatch(/^mayfly compare office --disciplines 'fifo,lfq' --set network.rate=10mbit/);
      expect(await textOf(page, "#take-switch-0")).toBe("mayfly qdisc load eth0 --both-ways --down 9500kbit --up 9500kbit --discipline fifo --buffer 300");
      expect(await textOf(page, "#take-address")).toContain("#workload=office&rate=10mbit");
      await page.evaluate(() => {
        const made: { type: string; size: number; text: Promise<string> }[] = [];
        Object.assign(window, { made });
        const original = URL.createObjectURL.bind(URL);
        URL.createObjectURL = (blob: Blob) => {
          made.push({ type: blob.type, size: blob.size, text: blob.text() });
          return original(blob);
        };
        // The test wants the bytes, not a file.
        HTMLAnchorElement.prototype.click = () => undefined;
      });
      for (const title of ["Figures (SVG)", "Figures (PNG)", "Response times (SVG)", "Queue over time (SVG)", "Figures (CSV)", "Transfers (CSV)", "Queue (CSV)"]) await page.locator(`::-p-text(${title})`).click();
      await page.waitForFunction(() => (window as unknown as { made: { type: string }[] }).made.some(({ type }) => type === "image/png"), { timeout: 60_000 });
      const files = await page.evaluate(async () => {
        const { made } = window as unknown as { made: { type: string; size: number; text: Promise<string> }[] };
        return Promise.all(made.map(async ({ type, size, text }) => ({ type, size, start: (await text).slice(0, 80) })));
      });
      const csv = files.filter(({ type }) => type.startsWith("text/csv"));
      expect(csv.map(({ start }) => start.split("\r\n")[0])).toEqual(["discipline,figure,value,unit", "discipline,flow_id,size_bytes,start_s,response_s,direction,kind", "discipline,time_s,backlog_packets,backlog_bytes"]);
      expect(files.filter(({ type }) => type.startsWith("image/svg")).every(({ start, size }) => start.startsWith("<svg") && size > 1000)).toBe(true);
      expect(files.find(({ type }) => type === "image/png")?.size).toBeGreaterThan(5000);
      expect(faults).toEqual([]);
    });

    it("is no wider than a telephone of 400 px", async () => {
      for (const tab of ["queue", "response", "length", "waits", "why", "take"]) {
        const { page } = await here(`#workload=office&d=fifo&d=lfq&show=${tab}`, NARROW);
        await settled(page);
        expect(await page.evaluate(() => document.documentElement.scrollWidth), tab).toBeLessThanOrEqual(400);
      }
    });
  });
});

describe.skipIf(pathOf("chrome") === null)("with motion", () => {
  it("the animation begins when its packets are there, once", async () => {
    const browser = await launch("chrome", { reduced: false });
    try {
      const { page, faults } = await visit(browser, site, "", { reduced: false });
      await page.waitForFunction(() => document.querySelector(".play")?.textContent === "Pause", { timeout: 120_000 });
      await page.locator(".play").click();
      expect(await textOf(page, ".play")).toBe("Play");
      await page.focus("[aria-label='Rate down'][type=range]");
      await page.keyboard.press("ArrowLeft");
      await settled(page);
      await new Promise((resolve) => setTimeout(resolve, 500));
      expect(await textOf(page, ".play")).toBe("Play");
      expect(faults).toEqual([]);
    } finally {
      await browser.close();
    }
  });
});
