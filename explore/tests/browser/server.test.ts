/** The page before a server of the kind of `mayfly explore`: here the same engine in this process, behind the same addresses. */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Browser } from "puppeteer-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import init, { advise, Engine } from "../../src/wasm/mayfly_web.js";
import { drop, figuresOf, launch, pathOf, serve, settled, textOf, visit, type Site } from "./browsers";
import { PAGE } from "./site";

const OFFICE = fileURLToPath(new URL("../../../captures/office.pcap.gz", import.meta.url));

describe.skipIf(pathOf("chrome") === null)("before a server", () => {
  let engine: Engine;
  let server: Site;
  let alone: Site;
  let browser: Browser;

  function api(path: string, query: URLSearchParams, body: Buffer): string | null {
    const name = query.get("name") ?? "";
    if (path === "api/engine") return JSON.stringify({ engine: "server", captures: ["line.pcap.gz"] });
    if (path === "api/load") return engine.load(readFileSync(join(PAGE, "presets", `${name}.json`), "utf8"));
    if (path === "api/run") return engine.run(body.toString("utf8"));
    if (path === "api/advise") return advise(body.toString("utf8"));
    if (path !== "api/open") return null;
    const template: unknown = JSON.parse(readFileSync(join(PAGE, "template.json"), "utf8"));
    const internal = query.getAll("internal");
    return engine.open(name, body.length > 0 ? body : readFileSync(OFFICE), JSON.stringify({ internal: internal.length > 0 ? internal : null, template }));
  }

  beforeAll(async () => {
    await init({ module_or_path: new WebAssembly.Module(readFileSync(fileURLToPath(new URL("../../src/wasm/mayfly_web_bg.wasm", import.meta.url)))) });
    engine = new Engine();
    [server, alone, browser] = await Promise.all([serve(api), serve(), launch("chrome")]);
  });
  afterAll(async () => {
    await browser.close();
    await Promise.all([server.close(), alone.close()]);
  });

  it("has the figures of the page alone", async () => {
    const hash = "#workload=office&rate=12mbit&up=5mbit&buffer=100&d=fifo&d=lfq";
    // One after the other: a page that is not seen draws nothing.
    const one = await visit(browser, server, hash);
    await settled(one.page);
    const other = await visit(browser, alone, hash);
    await settled(other.page);
    expect(await figuresOf(one.page)).toEqual(await figuresOf(other.page));
    expect(await textOf(one.page, ".where")).toContain("mayfly explore");
    expect(server.asked).toContain("api/run");
    expect([...one.faults, ...other.faults]).toEqual([]);
    await one.page.close();
    await other.page.close();
  });

  it("begins with the capture of the command line, and takes others", async () => {
    const { page, faults } = await visit(browser, server);
    await settled(page);
    expect(await page.$eval("#workload", (select) => (select as HTMLSelectElement).value)).toBe("capture:line.pcap.gz");
    await page.evaluate(() => {
      const near = document.querySelector("#internal") as HTMLInputElement;
      near.value = "10.10.0.0/24";
      near.dispatchEvent(new Event("change", { bubbles: true }));
    });
    await page.waitForFunction(() => location.hash.includes("internal=10.10.0.0/24"), { timeout: 120_000 });
    await settled(page);
    await drop(page, "noise.pcap", Buffer.from("no capture"));
    await page.waitForFunction(() => document.querySelector(".trouble:not([hidden])")?.textContent.includes("noise.pcap"), { timeout: 60_000 });
    // The console tells of every answer 400; nothing else may be there.
    expect(faults.filter((fault) => !fault.includes("400"))).toEqual([]);
    await page.close();
  });

  it("says a sentence when the server is gone", async () => {
    const short = await serve(api);
    const { page } = await visit(browser, short, "#workload=office&d=fifo&d=lfq");
    await settled(page);
    await short.close();
    await page.focus("[aria-label='Rate down'][type=range]");
    await page.keyboard.press("ArrowLeft");
    await page.waitForSelector(".column-head .problem:not([hidden])", { timeout: 60_000 });
    expect(await textOf(page, ".column-head .problem:not([hidden])")).toContain("does not answer");
    await page.close();
  });
});
