/**
 * The simulator in the browser: module workers with one instance of WebAssembly each.
 *
 * The main thread compiles the module once and keeps every workload, so that a worker can be broken off at any time: the one that takes
 * its place gets the module, and a workload before the first run that needs it.
 */

import wasmAddress from "../wasm/mayfly_web_bg.wasm?url";
import { EngineError, type Engine, type RunOptions } from "./engine";
import { readOutcome } from "./outcome";
import { LaneBroken, Lanes, type Lane } from "./lanes";
import type { Info, Outcome, Recommendation, Request } from "./types";
import type { FromWorker, ToWorker } from "./wasm_protocol";

type Workload = { version: number; info: Info | null } & ({ document: string } | { bytes: ArrayBuffer; options: string });

/** The most workloads that are kept; the one used longest ago goes. Captures are large. */
const MOST_WORKLOADS = 8;

/** No JSON begins so. */
const GIVE = "give ";
const ADVISE = "advise ";

/** Reads a file beside the page, wherever the page lies. */
async function readText(path: string): Promise<string> {
  const response = await fetch(new URL(path, document.baseURI));
  if (!response.ok) throw new EngineError(`The file ${path} is not beside this page (HTTP ${response.status}).`);
  return response.text();
}

class WorkerLane implements Lane {
  private readonly worker: Worker;
  private readonly kept: Map<string, Workload>;
  private readonly has = new Map<string, number>();
  private waiting: { resolve: (answer: string) => void; reject: (reason: unknown) => void }[] = [];

  constructor(module: WebAssembly.Module, kept: Map<string, Workload>) {
    this.kept = kept;
    this.worker = new Worker(new URL("./wasm_worker.ts", import.meta.url), { type: "module", name: "mayfly" });
    this.worker.onmessage = (event: MessageEvent<FromWorker>) => {
      const first = this.waiting.shift();
      if ("answer" in event.data) first?.resolve(event.data.answer);
      else if (event.data.fatal) first?.reject(new LaneBroken(new EngineError(event.data.error)));
      else first?.reject(new EngineError(event.data.error));
    };
    this.worker.onerror = (event) => {
      event.preventDefault();
      const broken = new LaneBroken(new EngineError(event.message || "A worker of the simulator could not start."));
      for (const { reject } of this.waiting.splice(0)) reject(broken);
    };
    // A module that cannot start is told by the first work that needs it.
    this.ask({ kind: "start", module }, []).catch(() => undefined);
  }

  /** `task` is the JSON of a request, GIVE and the name of a workload to read, or ADVISE and questions. */
  async do(task: string): Promise<string> {
    if (task.startsWith(GIVE)) return this.give(task.slice(GIVE.length));
    if (task.startsWith(ADVISE)) return this.ask({ kind: "advise", questions: task.slice(ADVISE.length) }, []);
    const { workload } = JSON.parse(task) as Request;
    if (this.has.get(workload) !== this.kept.get(workload)?.version) await this.give(workload);
    return this.ask({ kind: "run", request: task }, []);
  }

  break(): void {
    this.worker.terminate();
    this.waiting = [];
  }

  private async give(name: string): Promise<string> {
    const workload = this.kept.get(name);
    if (workload === undefined) throw new EngineError(`The workload ${name} is no longer here: choose it again.`);
    const { version } = workload;
    const message: ToWorker =
      "document" in workload
        ? { kind: "load", document: workload.document }
        : { kind: "open", name, bytes: workload.bytes, options: workload.options };
    const info = await this.ask(message, []);
    this.has.set(name, version);
    return info;
  }

  private ask(message: ToWorker, transfer: Transferable[]): Promise<string> {
    return new Promise((resolve, reject) => {
      this.waiting.push({ resolve, reject });
      this.worker.postMessage(message, transfer);
    });
  }
}

export class WasmEngine implements Engine {
  readonly kind = "wasm";
  readonly captures: readonly string[] = [];
  private readonly workloads = new Map<string, Workload>();
  private readonly pool: Lanes<WorkerLane>;
  private versions = 0;

  private constructor(module: WebAssembly.Module, lanes: number) {
    this.pool = new Lanes(() => new WorkerLane(module, this.workloads), lanes);
  }

  static async start(): Promise<WasmEngine> {
    const response = await fetch(wasmAddress);
    if (!response.ok) throw new EngineError(`The simulator (WebAssembly) could not be read: HTTP ${response.status}.`);
    // Not compileStreaming: a plain static server may not know the type application/wasm.
    const module = await WebAssembly.compile(await response.arrayBuffer());
    const processors = navigator.hardwareConcurrency || 2;
    return new WasmEngine(module, Math.min(4, Math.max(2, processors)));
  }

  get lanes(): number {
    return this.pool.count;
  }

  async load(name: string): Promise<Info> {
    const kept = this.workloads.get(name);
    if (kept?.info && "document" in kept) {
      this.touch(name, kept);
      return kept.info;
    }
    const text = await readText(`presets/${encodeURIComponent(name)}.json`);
    return this.take(name, { document: text, version: ++this.versions, info: null });
  }

  async open(name: string, bytes: ArrayBuffer | null, internal: string[] | null): Promise<Info> {
    if (bytes === null) throw new EngineError(`Drop the capture ${name} on the page: no server has it.`);
    const template: unknown = JSON.parse(await readText("template.json"));
    return this.take(name, { bytes, options: JSON.stringify({ internal, template }), version: ++this.versions, info: null });
  }

  async run(request: Request, options: RunOptions): Promise<Outcome> {
    const workload = this.workloads.get(request.workload);
    if (workload) this.touch(request.workload, workload);
    return readOutcome(await this.pool.submit(JSON.stringify(request), options.priority, options.signal));
  }

  async advise(outcomes: readonly Outcome[]): Promise<Recommendation | null> {
    const questions = JSON.stringify(outcomes.map(({ asked }) => asked));
    return JSON.parse(await this.pool.submit(ADVISE + questions, 0, null)) as Recommendation | null;
  }

  close(): void {
    this.pool.close();
  }

  private async take(name: string, workload: Workload): Promise<Info> {
    const before = this.workloads.get(name);
    this.touch(name, workload);
    try {
      const info = JSON.parse(await this.pool.submit(GIVE + name, 0, null)) as Info;
      workload.info = info;
      return info;
    } catch (caught) {
      // What cannot be read takes no room, and nothing from what was there before.
      this.workloads.delete(name);
      if (before) this.workloads.set(name, before);
      throw caught;
    }
  }

  /** Makes a workload the newest, and lets go of the oldest above the bound. */
  private touch(name: string, workload: Workload): void {
    this.workloads.delete(name);
    this.workloads.set(name, workload);
    for (const oldest of this.workloads.keys()) {
      if (this.workloads.size <= MOST_WORKLOADS) break;
      this.workloads.delete(oldest);
    }
  }
}
