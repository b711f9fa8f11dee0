/** A static site with the built page in a sub-folder, and nothing else: what any server of files gives. */

import { createReadStream, existsSync, statSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { extname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";

export const PAGE = process.env["MAYFLY_PAGE"] ?? fileURLToPath(new URL("../../../python/mayfly/explore/page", import.meta.url));

/** In which folder of the site. */
export const FOLDER = "/docs/explore/";

const TYPES: Record<string, string> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript",
  ".css": "text/css",
  ".json": "application/json",
  ".svg": "image/svg+xml",
  // Not application/wasm: a plain server may not know it.
  ".wasm": "application/octet-stream",
};

export interface Site {
  address: string;
  close(): Promise<void>;
}

export async function serve(): Promise<Site> {
  const server: Server = createServer((request, response) => {
    const path = new URL(request.url ?? "/", "http://site").pathname;
    const below = path.startsWith(FOLDER) ? normalize(decodeURIComponent(path.slice(FOLDER.length)) || "index.html") : "..";
    const file = join(PAGE, below);
    if (below.startsWith("..") || !existsSync(file) || !statSync(file).isFile()) {
      response.writeHead(404).end("not found\n");
      return;
    }
    response.writeHead(200, { "content-type": TYPES[extname(file)] ?? "application/octet-stream" });
    createReadStream(file).pipe(response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    address: `http://127.0.0.1:${port}${FOLDER}`,
    close: () => new Promise((resolve) => {
      server.closeAllConnections();
      server.close(() => resolve());
    }),
  };
}
