/** The local server that `mayfly explore` starts: the same requests, over addresses below that of the page. */

import { Cancelled, EngineError, type Engine, type RunOptions } from "./engine";
import { readOutcome } from "./outcome";
import { Lanes, type Lane } from "./lanes";
import type { Info, Outcome, Recommendation, Request } from "./types";

interface Hello {
  engine: string;
  captures?: string[];
}

function address(path: string): URL {
  return new URL(`api/${path}`, document.baseURI);
}

async function ask(path: string, body: BodyInit | null, signal: AbortSignal | null): Promise<string> {
  let response: Response;
  try {
    response = await fetch(address(path), { method: "POST", body, signal });
  } catch (caught) {
    if (signal?.aborted === true) throw caught;
    throw new EngineError("The server of mayfly explore does not answer: it was ended. Start it again and load this page anew.");
  }
  const text = await response.text();
  // What the server says to a run that newer ones have overtaken.
  if (response.status === 503) throw new Cancelled();
  if (!response.ok) throw new EngineError(text.trim() || `The server answered with HTTP ${response.status}.`);
  return text;
}

class ConnectionLane implements Lane {
  private readonly ended = new AbortController();

  do(task: string): Promise<string> {
    return ask("run", task, this.ended.signal);
  }

  break(): void {
    this.ended.abort();
  }
}

export class ServerEngine implements Engine {
  readonly kind = "server";
  readonly captures: readonly string[];
  private readonly pool = new Lanes(() => new ConnectionLane(), 2);

  private constructor(captures: readonly string[]) {
    this.captures = captures;
  }

  /** The engine where the server is there, else null: any other server answers something else, or nothing. */
  static async find(): Promise<ServerEngine | null> {
    try {
      const response = await fetch(address("engine"), { headers: { accept: "application/json" } });
      if (!response.ok) return null;
      const hello = (await response.json()) as Hello;
      return hello.engine === "server" ? new ServerEngine(hello.captures ?? []) : null;
    } catch {
      return null;
    }
  }

  get lanes(): number {
    return this.pool.count;
  }

  async load(name: string): Promise<Info> {
    return JSON.parse(await ask(`load?name=${encodeURIComponent(name)}`, null, null)) as Info;
  }

  async open(name: string, bytes: ArrayBuffer | null, internal: string[] | null): Promise<Info> {
    const near = (internal ?? []).map((network) => `&internal=${encodeURIComponent(network)}`).join("");
    return JSON.parse(await ask(`open?name=${encodeURIComponent(name)}${near}`, bytes ?? "", null)) as Info;
  }

  async run(request: Request, options: RunOptions): Promise<Outcome> {
    return readOutcome(await this.pool.submit(JSON.stringify(request), options.priority, options.signal));
  }

  async advise(outcomes: readonly Outcome[]): Promise<Recommendation | null> {
    return JSON.parse(await ask("advise", JSON.stringify(outcomes.map(({ asked }) => asked)), null)) as Recommendation | null;
  }

  close(): void {
    this.pool.close();
  }
}
