/** The one interface of both back ends: workers with WebAssembly, and the local server of `mayfly explore`. */

import type { Info, Outcome, Recommendation, Request } from "./types";

/** A sentence of the engine: what it was given is out of bounds, or cannot be read. */
export class EngineError extends Error {}

/** The run was given up because a newer one waits. Nobody needs to see this. */
export class Cancelled extends Error {
  constructor() {
    super("given up for a newer run");
  }
}

export interface RunOptions {
  /** Aborted when a newer run makes this one old. */
  signal: AbortSignal;
  /** 0 goes first. */
  priority: number;
}

export interface Engine {
  readonly kind: "wasm" | "server";
  /** Captures that can be opened by name alone, those of the command line. */
  readonly captures: readonly string[];
  /** How many runs go on at the same time. */
  readonly lanes: number;
  /** A preset of the catalogue, by name. */
  load(name: string): Promise<Info>;
  /** A capture, from its bytes or, where the engine has it, by name. */
  open(name: string, bytes: ArrayBuffer | null, internal: string[] | null): Promise<Info>;
  run(request: Request, options: RunOptions): Promise<Outcome>;
  /** What runs over one link come to; null where the rule has nothing to say. */
  advise(outcomes: readonly Outcome[]): Promise<Recommendation | null>;
  close(): void;
}
