import { describe, expect, it, vi } from "vitest";
import { Cancelled, type Engine, type RunOptions } from "../../src/engine/engine";
import type { Outcome, Request } from "../../src/engine/types";
import { emptySlot, isOld, Runner } from "../../src/run/runner";
import { initialState, requestOf } from "../../src/state/state";
import { info, outcome } from "./made";

interface Asked {
  request: Request;
  options: RunOptions;
  resolve(outcome: Outcome): void;
  reject(reason: unknown): void;
}

function made(): { runner: Runner; asked: Asked[]; changed: ReturnType<typeof vi.fn> } {
  const asked: Asked[] = [];
  const engine: Engine = {
    kind: "wasm",
    captures: [],
    lanes: 1,
    load: () => Promise.reject(new Error("not here")),
    open: () => Promise.reject(new Error("not here")),
    run: (request, options) => new Promise((resolve, reject) => asked.push({ request, options, resolve, reject })),
    advise: () => Promise.resolve(null),
    close: () => undefined,
  };
  const changed = vi.fn();
  return { runner: new Runner(engine, changed), asked, changed };
}

function request(rate: number): Request {
  const state = initialState();
  state.link.rate_bps = rate;
  return requestOf(state, info(), 0, null);
}

const settle = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 0));

describe("a slot", () => {
  it("asks once for what it wants", () => {
    const { runner, asked } = made();
    const slot = emptySlot();
    runner.want(slot, request(1e6), 0);
    runner.want(slot, request(1e6), 0);
    expect(asked.length).toBe(1);
  });

  it("aborts the older run, shows it as old if it ends, and then the newer", async () => {
    const { runner, asked } = made();
    const slot = emptySlot();
    const [old, fresh] = [outcome("old", {}), outcome("new", {})];
    runner.want(slot, request(1e6), 0);
    runner.want(slot, request(2e6), 0);
    expect(asked[0]?.options.signal.aborted).toBe(true);
    asked[0]?.resolve(old);
    await settle();
    expect([slot.outcome === old, isOld(slot), slot.busy]).toEqual([true, true, true]);
    asked[1]?.resolve(fresh);
    await settle();
    expect([slot.outcome === fresh, isOld(slot), slot.busy]).toEqual([true, false, false]);
  });

  it("never lets an older run take the place of the newer", async () => {
    const { runner, asked } = made();
    const slot = emptySlot();
    const fresh = outcome("new", {});
    runner.want(slot, request(1e6), 0);
    runner.want(slot, request(2e6), 0);
    asked[1]?.resolve(fresh);
    await settle();
    asked[0]?.resolve(outcome("old", {}));
    await settle();
    expect([slot.outcome === fresh, isOld(slot)]).toEqual([true, false]);
  });

  it("keeps the figures and tells the sentence of an error", async () => {
    const { runner, asked } = made();
    const slot = emptySlot();
    const first = outcome("first", {});
    runner.want(slot, request(1e6), 0);
    asked[0]?.resolve(first);
    await settle();
    runner.want(slot, request(2e6), 0);
    asked[1]?.reject(new Error("rate: must be"));
    await settle();
    expect([slot.outcome === first, slot.error, slot.busy]).toEqual([true, "rate: must be", false]);
  });

  it("says nothing of a run that was given up", async () => {
    const { runner, asked } = made();
    const slot = emptySlot();
    runner.want(slot, request(1e6), 0);
    runner.want(slot, request(2e6), 0);
    asked[0]?.reject(new Cancelled());
    await settle();
    expect([slot.error, slot.busy]).toEqual([null, true]);
  });

  it("shows what was computed before at once, until the workload is another", async () => {
    const { runner, asked } = made();
    const slot = emptySlot();
    runner.want(slot, request(1e6), 0);
    asked[0]?.resolve(outcome("first", {}));
    await settle();
    runner.want(slot, request(2e6), 0);
    runner.want(slot, request(1e6), 0);
    expect([asked.length, isOld(slot), slot.busy]).toEqual([2, false, false]);
    runner.forget();
    runner.clear(slot);
    runner.want(slot, request(1e6), 0);
    expect(asked.length).toBe(3);
  });

  it("that is cleared takes no answer", async () => {
    const { runner, asked } = made();
    const slot = emptySlot();
    runner.want(slot, request(1e6), 0);
    runner.clear(slot);
    asked[0]?.resolve(outcome("late", {}));
    await settle();
    expect(slot.outcome).toBeNull();
  });
});
