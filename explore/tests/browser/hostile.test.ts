/** Files that somebody made to harm, dropped on the page: figures or one line each, no hang, no exception. */

import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { gunzipSync, gzipSync } from "node:zlib";
import type { Browser } from "puppeteer-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { drop, launch, pathOf, serve, settled, visit, type Site } from "./browsers";

const OFFICE = gunzipSync(readFileSync(fileURLToPath(new URL("../../../captures/office.pcap.gz", import.meta.url)))).subarray(0, 120_000);
const LARGE = [0, 1, 0x7fffffff, 0x80000000, 0xffffffff, 0x00ffffff, 0x10000, 65_535, 8 << 20, (8 << 20) + 1];
/** What a file takes at most, ms: the machine of a test is busy. */
const LONGEST_MS = 60_000;

/** A generator with a seed: the same files each time. */
function drawing(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

function words(...values: number[]): Buffer {
  const buffer = Buffer.alloc(4 * values.length);
  values.forEach((value, at) => buffer.writeUInt32LE(value >>> 0, 4 * at));
  return buffer;
}

function changed(at: number, value: number): Buffer {
  const copy = Buffer.from(OFFICE);
  copy.writeUInt32LE(value >>> 0, at);
  return copy;
}

function block(kind: number, body: Buffer, length = body.length + 12): Buffer {
  return Buffer.concat([words(kind, length), body, words(length)]);
}

const SECTION = block(0x0a0d0d0a, Buffer.concat([words(0x1a2b3c4d, 1), Buffer.alloc(8, 0xff)]));
const INTERFACE = block(1, words(1, 0));

/** Where the records of a pcap begin. */
function records(file: Buffer): number[] {
  const found = [];
  for (let at = 24; at + 16 <= file.length; at += 16 + file.readUInt32LE(at + 8)) found.push(at);
  return found;
}

function hostile(): [string, Buffer][] {
  const draw = drawing(46);
  const files: [string, Buffer][] = [["empty", Buffer.alloc(0)], ["zeros", Buffer.alloc(100_000)], ["ones", Buffer.alloc(100_000, 0xff)]];
  const begins = records(OFFICE);
  for (let number = 0; number < 40; number += 1) files.push([`cut-${number}`, OFFICE.subarray(0, draw(number < 20 ? 200 : OFFICE.length))]);
  // Each word of the header of the file, and of that of a record, as large as it can be.
  for (let word = 0; word < 6; word += 1) {
    for (const value of LARGE) files.push([`header-${word}-${value}`, changed(4 * word, value)]);
  }
  for (let word = 0; word < 4; word += 1) {
    for (const value of LARGE) files.push([`record-${word}-${value}`, changed((begins[draw(begins.length)] ?? 24) + 4 * word, value)]);
  }
  // Lengths within packets: of IP, of its header, of TCP's header, offsets of fragments.
  for (const [name, at] of [["total", 16], ["version", 14], ["fragment", 20], ["protocol", 23], ["tcp", 46], ["ether", 12]] as const) {
    for (const value of [0, 0xff, 0x7f, 0x0f]) {
      const copy = Buffer.from(OFFICE);
      for (const begin of records(OFFICE)) if (begin + 16 + at + 1 < copy.length && draw(2) === 0) copy[begin + 16 + at] = value;
      files.push([`${name}-${value}`, copy]);
    }
  }
  for (let number = 0; number < 30; number += 1) {
    const copy = Buffer.from(OFFICE);
    for (let flip = 0; flip < 2 ** (number % 12); flip += 1) copy[draw(copy.length)] = draw(256);
    files.push([`flipped-${number}`, copy]);
  }
  for (let number = 0; number < 15; number += 1) files.push([`noise-${number}`, Buffer.from(Array.from({ length: draw(3_000) }, () => draw(256)))]);
  for (const length of LARGE) {
    files.push([`ng-block-${length}`, Buffer.concat([SECTION, INTERFACE, block(6, words(0, 0, 0, 60, 60), length)])]);
    files.push([`ng-packet-${length}`, Buffer.concat([SECTION, INTERFACE, block(6, Buffer.concat([words(0, 0xffffffff, 0xffffffff, length, length), Buffer.alloc(60)]))])]);
    files.push([`ng-interface-${length}`, Buffer.concat([SECTION, INTERFACE, block(5, words(length, 0, 0, 0x00080005, length, length, 0))])]);
  }
  files.push(["ng-interfaces", Buffer.concat([SECTION, ...Array.from({ length: 70_000 }, () => INTERFACE)])]);
  files.push(["bomb.gz", gzipSync(Buffer.concat([OFFICE, Buffer.alloc(200_000_000)]))]);
  files.push(["bomb-twice.gz", gzipSync(gzipSync(Buffer.alloc(50_000_000)))]);
  files.push(["cut.gz", gzipSync(OFFICE).subarray(0, 20_000)]);
  for (const [name, text] of [["html", "<script>document.title='owned'</script><img src=x onerror=alert(1)>"], ["json", '{"a":'], ["csv", "start_s,size_bytes\n0,1\n"], ["zeek", '{"id.orig_h":"1.2.3.4"}\n'], ["line", "x".repeat(2_000_000)]] as const) {
    files.push([name, Buffer.from(text)]);
  }
  // The name is a stranger's, too.
  files.push(["<img src=x onerror=alert(1)>", Buffer.from("none")], ["\u202egnp.exe", Buffer.alloc(3)], ["n".repeat(5_000), Buffer.alloc(3)], ["a\nb\u0000c", Buffer.alloc(3)], ["../../etc/passwd", OFFICE]);
  return files;
}

describe.skipIf(pathOf("chrome") === null)("hostile files", () => {
  let site: Site, browser: Browser;

  beforeAll(async () => {
    site = await serve();
    browser = await launch("chrome");
  });
  afterAll(async () => {
    await browser.close();
    await site.close();
  });

  it("give figures or one line each, on one page", async () => {
    const { page, faults } = await visit(browser, site);
    await settled(page);
    const files = hostile();
    expect(files.length).toBeGreaterThan(200);
    let longest = 0;
    const refused: string[] = [];
    for (const [name, content] of files) {
      const before = Date.now();
      // What the page says of the file before is gone as soon as it takes the next one.
      await page.evaluate(() => {
        const trouble = document.querySelector(".trouble");
        if (trouble !== null) trouble.textContent = "";
      });
      const hash = await page.evaluate(() => location.hash);
      await drop(page, name, content);
      await page.waitForFunction(
        (was: string) => location.hash !== was || (document.querySelector(".trouble:not([hidden])")?.textContent ?? "") !== "",
        { timeout: LONGEST_MS, polling: 20 },
        hash,
      );
      longest = Math.max(longest, Date.now() - before);
      const said = await page.evaluate(() => document.querySelector(".trouble:not([hidden])")?.textContent ?? "");
      if (said !== "") {
        refused.push(name);
        expect(said, name).not.toMatch(/[\p{Cc}\u202e]|undefined|panick|unreachable|RuntimeError|\[object/u);
        expect(said.length, name).toBeLessThan(700);
      }
      expect(await page.evaluate(() => document.querySelectorAll(".figure-table td").length), name).toBeGreaterThan(8);
      expect(await page.title(), name).not.toBe("owned");
      expect(await page.evaluate(() => document.querySelectorAll("img[src=x], script:not([src])").length), name).toBe(0);
    }
    // Most are none, and say so; what is a capture in part is read as far as it goes.
    expect(refused.length).toBeGreaterThan(60);
    expect(files.length - refused.length).toBeGreaterThan(40);
    expect(faults).toEqual([]);
    expect(longest).toBeLessThan(LONGEST_MS);
    // The page goes on.
    await drop(page, "whole.pcap", OFFICE);
    await page.waitForFunction(() => location.hash.includes("whole.pcap"), { timeout: LONGEST_MS, polling: 50 });
    await settled(page);
    expect(faults).toEqual([]);
  });
});
