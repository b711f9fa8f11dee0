/** Debian's Chromium and Firefox, driven by puppeteer-core: CDP the one, WebDriver BiDi the other. */

import { existsSync } from "node:fs";
import puppeteer, { type Browser, type Page } from "puppeteer-core";
import { serve, type Site } from "./site";

export type Name = "chrome" | "firefox";

const PATHS: Record<Name, string[]> = {
  chrome: ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"],
  firefox: ["/usr/bin/firefox-esr", "/usr/bin/firefox"],
};

export function pathOf(name: Name): string | null {
  const given = process.env[name === "chrome" ? "CHROMIUM" : "FIREFOX"];
  return given ?? PATHS[name].find((path) => existsSync(path)) ?? null;
}

export interface Media {
  dark?: boolean;
  reduced?: boolean;
}

export async function launch(name: Name, { dark = false, reduced = true }: Media = {}): Promise<Browser> {
  const executablePath = pathOf(name);
  if (executablePath === null) throw new Error(`no ${name} here`);
  return puppeteer.launch({
    browser: name,
    executablePath,
    headless: true,
    protocolTimeout: 300_000,
    args: name === "chrome" ? ["--no-sandbox", "--disable-dev-shm-usage", "--js-flags=--expose-gc", "--enable-precise-memory-info"] : [],
    // What emulateMediaFeatures does in Chromium.
    extraPrefsFirefox: { "ui.systemUsesDarkTheme": dark ? 1 : 0, "ui.prefersReducedMotion": reduced ? 1 : 0, "layout.css.prefers-color-scheme.content-override": dark ? 0 : 1 },
  });
}

export interface Visit {
  page: Page;
  site: Site;
  /** Errors on the console, exceptions, requests to other origins. */
  faults: string[];
}

const WIDE = { width: 1400, height: 1000 };
export const NARROW = { width: 400, height: 800 };

export async function visit(browser: Browser, site: Site, hash = "", media: Media = {}, viewport = WIDE): Promise<Visit> {
  const page = await browser.newPage();
  const faults: string[] = [];
  page.on("console", (message) => {
    if (message.type() === "error") faults.push(`console: ${message.text()}`);
  });
  page.on("pageerror", (error) => faults.push(`exception: ${error instanceof Error ? error.message : String(error)}`));
  page.on("request", (request) => {
    const url = request.url();
    if (!url.startsWith(new URL(site.address).origin) && !url.startsWith("blob:") && !url.startsWith("data:")) faults.push(`request: ${url}`);
  });
  await page.setViewport(viewport);
  if ((await browser.version()).toLowerCase().includes("chrom")) {
    await page.emulateMediaFeatures([
      { name: "prefers-color-scheme", value: media.dark === true ? "dark" : "light" },
      { name: "prefers-reduced-motion", value: media.reduced === false ? "no-preference" : "reduce" },
    ]);
  }
  await page.goto(`${site.address}${hash}`);
  return { page, site, faults };
}

/** Until every column shows what the sliders say. */
export async function settled(page: Page): Promise<void> {
  await page.waitForFunction(() => /^computed in/.test(document.querySelector("#took")?.textContent ?? "") && document.querySelectorAll(".figure-table td.old").length === 0, { timeout: 300_000, polling: 50 });
}

export async function textOf(page: Page, selector: string): Promise<string> {
  return page.$eval(selector, (element) => element.textContent);
}

/** All large figures, in order. */
export async function figuresOf(page: Page): Promise<string[]> {
  return page.$$eval(".figure-table .figure", (cells) => cells.map((cell) => cell.textContent));
}

/** What stands behind # once the page has written it. */
export async function hashOf(page: Page, wanted: RegExp): Promise<string> {
  await page.waitForFunction((source: string) => new RegExp(source).test(location.hash), { timeout: 60_000, polling: 50 }, wanted.source);
  return page.evaluate(() => location.hash);
}

/** Drops a file on the page, as a file manager does. */
export async function drop(page: Page, name: string, content: Buffer | { size: number }): Promise<void> {
  const given = Buffer.isBuffer(content) ? { base64: content.toString("base64") } : { size: content.size };
  await page.evaluate(
    (fileName: string, what: { base64?: string; size?: number }) => {
      const bytes = Uint8Array.from(atob(what.base64 ?? ""), (letter) => letter.charCodeAt(0));
      const file = new File([bytes], fileName);
      // A file of that size would fill the memory of the test.
      if (what.size !== undefined) Object.defineProperty(file, "size", { value: what.size });
      const data = new DataTransfer();
      data.items.add(file);
      const event = new DragEvent("drop", { bubbles: true, cancelable: true, dataTransfer: data });
      if (what.size !== undefined) Object.defineProperty(event, "dataTransfer", { value: { files: [file] } });
      document.body.dispatchEvent(event);
    },
    name,
    given,
  );
}

export { serve, type Site };
