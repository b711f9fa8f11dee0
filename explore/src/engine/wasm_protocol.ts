/** What the main thread and a worker say to each other. */

export type ToWorker =
  | { kind: "start"; module: WebAssembly.Module }
  | { kind: "load"; document: string }
  | { kind: "open"; name: string; bytes: ArrayBuffer; options: string }
  | { kind: "run"; request: string }
  | { kind: "advise"; questions: string };

/** `fatal`: the instance of the worker is not to be used again. */
export type FromWorker = { answer: string } | { error: string; fatal: boolean };
