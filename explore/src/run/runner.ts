/**
 * Which runs the page wants, and what came back.
 *
 * A slot is one place that shows an outcome: a column of figures, its inside, the life of a transfer. It keeps the last outcome until the
 * one that it wants is there, and says whether what it has is old. Wanting something else aborts what it wanted before.
 */

import { Cancelled, type Engine } from "../engine/engine";
import type { Outcome, Request } from "../engine/types";

export interface Slot {
  wanted: string | null;
  outcome: Outcome | null;
  /** The request that `outcome` answers. */
  answers: string | null;
  error: string | null;
  busy: boolean;
  controller: AbortController | null;
  /** Milliseconds from the wish to its answer. */
  took_ms: number | null;
}

export function emptySlot(): Slot {
  return { wanted: null, outcome: null, answers: null, error: null, busy: false, controller: null, took_ms: null };
}

export function isOld(slot: Slot): boolean {
  return slot.outcome !== null && slot.answers !== slot.wanted;
}

/** Outcomes of the last requests: going back with a slider shows them at once. */
const KEPT = 12;
/** Outcomes of more transfers are not kept: they would take the memory of the rest. */
const KEPT_TRANSFERS = 20_000;

export class Runner {
  private readonly kept = new Map<string, Outcome>();
  private readonly engine: Engine;
  private readonly changed: () => void;

  constructor(engine: Engine, changed: () => void) {
    this.engine = engine;
    this.changed = changed;
  }

  want(slot: Slot, request: Request, priority: number): void {
    const text = JSON.stringify(request);
    if (slot.wanted === text) return;
    slot.controller?.abort();
    slot.wanted = text;
    slot.error = null;
    slot.controller = null;
    const kept = this.kept.get(text);
    if (kept) {
      slot.busy = false;
      slot.outcome = kept;
      slot.answers = text;
      slot.took_ms = 0;
      this.changed();
      return;
    }
    const controller = new AbortController();
    slot.controller = controller;
    slot.busy = true;
    void this.run(slot, request, text, controller, priority);
  }

  clear(slot: Slot): void {
    slot.controller?.abort();
    Object.assign(slot, emptySlot());
  }

  /** A workload of this name was read anew: what was computed with the old one does not hold. */
  forget(): void {
    this.kept.clear();
  }

  private async run(slot: Slot, request: Request, text: string, controller: AbortController, priority: number): Promise<void> {
    const start = performance.now();
    try {
      const outcome = await this.engine.run(request, { signal: controller.signal, priority });
      if (outcome.inside === null && outcome.transfers.id.length <= KEPT_TRANSFERS) this.keep(text, outcome);
      // An older answer of the same workload is nearer to what is wanted than what is shown, unless that is already there.
      if (slot.wanted === null || (slot.wanted !== text && slot.answers === slot.wanted)) return;
      slot.outcome = outcome;
      slot.answers = text;
      if (slot.wanted === text) {
        slot.busy = false;
        slot.took_ms = performance.now() - start;
      }
      this.changed();
    } catch (caught) {
      if (slot.wanted !== text || caught instanceof Cancelled || controller.signal.aborted) return;
      slot.busy = false;
      slot.error = caught instanceof Error ? caught.message : String(caught);
      this.changed();
    }
  }

  private keep(text: string, outcome: Outcome): void {
    this.kept.delete(text);
    this.kept.set(text, outcome);
    for (const oldest of this.kept.keys()) {
      if (this.kept.size <= KEPT) break;
      this.kept.delete(oldest);
    }
  }
}
