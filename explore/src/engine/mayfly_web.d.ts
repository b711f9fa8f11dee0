/** What wasm-bindgen makes of `crates/web`, for type checks of a tree in which it was not built. */
declare module "*/wasm/mayfly_web.js" {
  export class Engine {
    constructor();
    load(document: string): string;
    open(name: string, bytes: Uint8Array, options: string): string;
    run(request: string): string;
  }
  export function advise(questions: string): string;
  export function last_panic(): string;
  export default function init(input: { module_or_path: WebAssembly.Module }): Promise<unknown>;
}
