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

/** What `mayfly explore` answers below api/: `null` for what it does not know. */
export type Api = (path: string, query: URLSearchParams, body: Buffer) => string | null;

export interface Site {
  address: string;
  /** Addresses below api/ that were asked for. */
  asked: string[];
  close(): Promise<void>;
}

export async function serve(api: Api | null = null): Promise<Site> {
  const asked: string[] = [];
  const server: Server = createServer((request, response) => {
    const { pathname: path, searchParams } = new URL(request.url ?? "/", "http://site");
    if (api !== null && path.startsWith(`${FOLDER}api/`)) {
      const parts: Buffer[] = [];
      request.on("data", (part: Buffer) => parts.push(part));
      request.on("end", () => {
        asked.push(path.slice(FOLDER.length));
        try {
          const answer = api(path.slice(FOLDER.length), searchParams, Buffer.concat(parts));
          response.writeHead(answer === null ? 404 : 200, { "content-type": "application/json" }).end(answer ?? "not found\n");
        } catch (caught) {
          response.writeHead(400, { "content-type": "text/plain; charset=utf-8" }).end(`${caught instanceof Error ? caught.message : String(caught)}\n`);
        }
      });
      return;
    }
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
    asked,
    address: `http://127.0.0.1:${port}${FOLDER}`,
    close: () => new Promise((resolve) => {
      server.closeAllConnections();
      server.close(() => resolve());
    }),
  };
}
