/** The server where it answers, else the simulator in the browser. */

import type { Engine } from "./engine";
import { ServerEngine } from "./server_engine";

export async function chooseEngine(): Promise<Engine> {
  const server = await ServerEngine.find();
  if (server !== null) return server;
  // Not read at all where a server answers.
  const { WasmEngine } = await import("./wasm_engine");
  return WasmEngine.start();
}
