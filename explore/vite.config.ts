import { existsSync, rmSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vite";

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
// MAYFLY_PAGE: another folder, for tests.
const page = process.env["MAYFLY_PAGE"] ?? here("../python/mayfly/explore/page");

export default defineConfig({
  // Relative addresses: the page works in any folder of any site.
  base: "./",
  build: {
    outDir: page,
    // `make explore` puts documents there, too: only what the build before made is removed.
    emptyOutDir: false,
    target: "es2022",
    // No data: addresses, which the Content-Security-Policy refuses to scripts.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
  },
  worker: { format: "es" },
  plugins: [
    {
      name: "mayfly",
      apply: "build",
      buildStart() {
        if (!existsSync(here("src/wasm/mayfly_web_bg.wasm"))) {
          this.error("src/wasm is empty: `.ci/wasm explore/src/wasm` builds the engine, `make explore` all");
        }
        rmSync(`${page}/assets`, { recursive: true, force: true });
      },
    },
  ],
});
