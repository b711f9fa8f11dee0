import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Cancelled } from "../../src/engine/engine";
import { LaneBroken, Lanes, PATIENCE_MS, type Lane } from "../../src/engine/lanes";

/** A lane that ends when the test says so. */
class Told implements Lane {
  static all: Told[] = [];
  task = "";
  broken = false;
  private settle: { resolve(answer: string): void; reject(reason: unknown): void } | null = null;

  constructor() {
    Told.all.push(this);
  }
  do(task: string): Promise<string> {
    this.task = task;
    return new Promise((resolve, reject) => (this.settle = { resolve, reject }));
  }
  end(): void {
    this.settle?.resolve(`${this.task} done`);
  }
  fail(reason: unknown): void {
    this.settle?.reject(reason);
  }
  break(): void {
    this.broken = true;
  }
}

beforeEach(() => {
  vi.useFakeTimers();
  Told.all = [];
});
afterEach(() => vi.useRealTimers());

const make = (count: number): Lanes<Told> => new Lanes(() => new Told(), count);

describe("lanes", () => {
  it("do so many things at a time, by priority, then in order", async () => {
    const lanes = make(1);
    const done: string[] = [];
    for (const [task, priority] of [["a", 0], ["b", 1], ["c", 0]] as const) void lanes.submit(task, priority, null).then((answer) => done.push(answer));
    for (let step = 0; step < 3; step += 1) {
      Told.all[0]?.end();
      await vi.advanceTimersByTimeAsync(0);
    }
    expect(done).toEqual(["a done", "c done", "b done"]);
    expect(Told.all.length).toBe(1);
  });

  it("drop what is aborted while it waits", async () => {
    const lanes = make(1);
    void lanes.submit("a", 0, null);
    const controller = new AbortController();
    const waiting = lanes.submit("b", 0, controller.signal);
    controller.abort();
    await expect(waiting).rejects.toBeInstanceOf(Cancelled);
  });

  it("let old work end when nothing waits", async () => {
    const lanes = make(1);
    const controller = new AbortController();
    const old = lanes.submit("old", 0, controller.signal);
    controller.abort();
    await vi.advanceTimersByTimeAsync(10 * PATIENCE_MS);
    Told.all[0]?.end();
    await expect(old).resolves.toBe("old done");
  });

  it("break old work off once newer work has waited, and go on in another lane", async () => {
    const lanes = make(1);
    const controller = new AbortController();
    const old = lanes.submit("old", 0, controller.signal);
    const caught = expect(old).rejects.toBeInstanceOf(Cancelled);
    controller.abort();
    const next = lanes.submit("new", 0, null);
    await vi.advanceTimersByTimeAsync(PATIENCE_MS - 1);
    expect(Told.all[0]?.broken).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    expect(Told.all[0]?.broken).toBe(true);
    await caught;
    Told.all[1]?.end();
    await expect(next).resolves.toBe("new done");
  });

  it("never break work that is wanted", async () => {
    const lanes = make(1);
    void lanes.submit("wanted", 0, null);
    void lanes.submit("new", 0, null);
    await vi.advanceTimersByTimeAsync(10 * PATIENCE_MS);
    expect(Told.all.map(({ broken }) => broken)).toEqual([false]);
  });

  it("replace a lane that says it is broken, and tell why", async () => {
    const lanes = make(1);
    const failed = lanes.submit("a", 0, null);
    Told.all[0]?.fail(new LaneBroken(new Error("a trap")));
    await expect(failed).rejects.toThrow("a trap");
    const next = lanes.submit("b", 0, null);
    expect(Told.all.length).toBe(2);
    Told.all[1]?.end();
    await expect(next).resolves.toBe("b done");
  });

  it("keep a lane whose work was refused", async () => {
    const lanes = make(1);
    const refused = lanes.submit("a", 0, null);
    Told.all[0]?.fail(new Error("out of bounds"));
    await expect(refused).rejects.toThrow("out of bounds");
    void lanes.submit("b", 0, null);
    expect(Told.all.length).toBe(1);
  });
});
