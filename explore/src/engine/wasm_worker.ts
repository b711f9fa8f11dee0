/** One instance of the simulator in a thread of its own: takes one message, answers with one. */

import init, { advise, Engine, last_panic } from "../wasm/mayfly_web.js";
import type { FromWorker, ToWorker } from "./wasm_protocol";

const port = self as unknown as { onmessage: ((event: MessageEvent<ToWorker>) => void) | null; postMessage(message: FromWorker): void };
let engine: Engine | null = null;

async function start(module: WebAssembly.Module): Promise<string> {
  await init({ module_or_path: module });
  engine = new Engine();
  return "";
}

/** What the panic behind a trap said; out of memory is a trap without words. */
function trapped(said: string): string {
  let panic = "";
  try {
    panic = last_panic();
  } catch {
    // The instance is past answering.
  }
  return panic === "" ? `The simulator gave up (${said}): a shorter capture, or a slower link, takes less memory.` : `The simulator has a fault: ${panic}`;
}

async function answer(message: ToWorker): Promise<string> {
  if (message.kind === "start") return start(message.module);
  if (engine === null) throw new Error("the worker has no engine yet");
  if (message.kind === "load") return engine.load(message.document);
  if (message.kind === "open") return engine.open(message.name, new Uint8Array(message.bytes), message.options);
  if (message.kind === "advise") return advise(message.questions);
  return engine.run(message.request);
}

// Messages wait for the one before: `start` is asynchronous, and the others need what it makes.
let before: Promise<void> = Promise.resolve();

port.onmessage = (event) => {
  before = before.then(async () => {
    try {
      port.postMessage({ answer: await answer(event.data) });
    } catch (caught) {
      // A trap leaves the memory of the instance as it was in the middle of something.
      const trap = caught instanceof WebAssembly.RuntimeError;
      const said = caught instanceof Error ? caught.message : String(caught);
      port.postMessage({ error: trap ? trapped(said) : said, fatal: trap || engine === null });
    }
  });
};
