/**
 * Work in the order of its priority over a few lanes, each of which does one thing at a time.
 *
 * A lane is a worker, or a connection to the server. Work that was aborted while it waits is dropped. Work that was aborted while it runs
 * may end, for its result still moves the page, but once other work has waited for PATIENCE_MS its lane is broken off and replaced.
 */

import { Cancelled } from "./engine";

export interface Lane {
  do(task: string): Promise<string>;
  /** Ends at once whatever the lane does; the lane is not used again. */
  break(): void;
}

export interface Work {
  task: string;
  priority: number;
  signal: AbortSignal | null;
  resolve(answer: string): void;
  reject(reason: unknown): void;
}

export const PATIENCE_MS = 100;

interface Busy<L extends Lane> {
  lane: L;
  work: Work;
}

export class Lanes<L extends Lane> {
  private idle: L[] = [];
  private busy: Busy<L>[] = [];
  private waiting: Work[] = [];
  private timer: ReturnType<typeof setTimeout> | null = null;
  private closed = false;
  private readonly make: () => L;
  readonly count: number;

  constructor(make: () => L, count: number) {
    this.make = make;
    this.count = count;
  }

  submit(task: string, priority: number, signal: AbortSignal | null): Promise<string> {
    return new Promise((resolve, reject) => {
      if (this.closed || signal?.aborted === true) {
        reject(new Cancelled());
        return;
      }
      const work: Work = { task, priority, signal, resolve, reject };
      const place = this.waiting.findIndex((other) => other.priority > priority);
      this.waiting.splice(place < 0 ? this.waiting.length : place, 0, work);
      signal?.addEventListener("abort", () => this.aborted(work), { once: true });
      this.next();
    });
  }

  close(): void {
    this.closed = true;
    for (const { lane, work } of this.busy) {
      lane.break();
      work.reject(new Cancelled());
    }
    for (const lane of this.idle) lane.break();
    for (const work of this.waiting) work.reject(new Cancelled());
    this.busy = [];
    this.idle = [];
    this.waiting = [];
    if (this.timer !== null) clearTimeout(this.timer);
  }

  private aborted(work: Work): void {
    const place = this.waiting.indexOf(work);
    if (place >= 0) {
      this.waiting.splice(place, 1);
      work.reject(new Cancelled());
    } else {
      this.watch();
    }
  }

  private next(): void {
    while (this.waiting.length > 0 && this.busy.length < this.count && !this.closed) {
      const work = this.waiting.shift() as Work;
      const lane = this.idle.pop() ?? this.make();
      const entry = { lane, work };
      this.busy.push(entry);
      lane.do(work.task).then(
        (answer) => {
          this.free(entry, true);
          work.resolve(answer);
        },
        (reason: unknown) => {
          this.free(entry, !(reason instanceof LaneBroken));
          work.reject(reason instanceof LaneBroken ? reason.why : reason);
        },
      );
    }
    this.watch();
  }

  private free(entry: Busy<L>, whole: boolean): void {
    const place = this.busy.indexOf(entry);
    if (place < 0) return; // broken off before
    this.busy.splice(place, 1);
    if (whole && !this.closed) this.idle.push(entry.lane);
    else entry.lane.break();
    this.next();
  }

  /** Starts the clock when something waits behind work that nobody wants any more. */
  private watch(): void {
    if (this.timer !== null) clearTimeout(this.timer);
    this.timer = null;
    const old = this.busy.some(({ work }) => work.signal?.aborted === true);
    if (this.waiting.length > 0 && old) this.timer = setTimeout(() => this.replace(), PATIENCE_MS);
  }

  private replace(): void {
    this.timer = null;
    let wanted = this.waiting.length;
    for (const entry of [...this.busy]) {
      if (wanted === 0) break;
      if (entry.work.signal?.aborted !== true) continue;
      this.busy.splice(this.busy.indexOf(entry), 1);
      entry.lane.break();
      entry.work.reject(new Cancelled());
      wanted -= 1;
    }
    this.next();
  }
}

/** A lane that cannot go on: `why` is told, and the next work gets another lane. */
export class LaneBroken extends Error {
  readonly why: Error;

  constructor(why: Error) {
    super(why.message);
    this.why = why;
  }
}
