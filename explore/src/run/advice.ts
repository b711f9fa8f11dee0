/** What the engine recommends of the runs that are shown; asked again when one of them is another. */

import type { Engine } from "../engine/engine";
import type { AsLoaded, Outcome, Recommendation, Request } from "../engine/types";

/** The request for the discipline of a label where its command puts it; null for a label that no column has. */
export type Loading = (label: string, where: AsLoaded) => Request | null;

export class Advice {
  /** Whether an answer is on its way. */
  busy = false;
  private readonly engine: Engine;
  private readonly changed: () => void;
  private asked: readonly Outcome[] = [];
  private told: Recommendation | null | undefined = undefined;
  /** Aborts the runs of an answer that is out of date. */
  private controller = new AbortController();

  constructor(engine: Engine, changed: () => void) {
    this.engine = engine;
    this.changed = changed;
  }

  /**
   * The recommendation of these runs. Until the engine has answered it is that of the runs before, undefined at first. With `loading` the
   * disciplines that the engine names also run where the command puts them, and the answer is of these.
   */
  of(outcomes: readonly Outcome[], loading: Loading | null): Recommendation | null | undefined {
    const same = outcomes.length === this.asked.length && outcomes.every((outcome, place) => outcome === this.asked[place]);
    if (!same) {
      this.controller.abort();
      this.controller = new AbortController();
      this.asked = outcomes;
      this.busy = outcomes.length > 1;
      if (this.busy) void this.ask(outcomes, loading, this.controller.signal);
    }
    return this.told;
  }

  private async ask(outcomes: readonly Outcome[], loading: Loading | null, signal: AbortSignal): Promise<void> {
    let told: Recommendation | null | undefined;
    try {
      told = await this.engine.advise(outcomes);
      const requests = told && loading ? asLoaded(told, outcomes, loading) : [];
      if (requests.length > 0) {
        const loaded = await Promise.all(requests.map((request) => this.engine.run(request, { signal, priority: 0 })));
        told = await this.engine.advise([...outcomes, ...loaded]);
      }
    } catch {
      // The run that fails for the same reason says why.
      told = undefined;
    }
    if (outcomes !== this.asked) return;
    this.busy = false;
    this.told = told;
    this.changed();
  }
}

function asLoaded(first: Recommendation, outcomes: readonly Outcome[], loading: Loading): Request[] {
  if (first.shapes === null) return [];
  const { down, up } = first.shapes;
  const busy = outcomes.flatMap(({ figures }) => (figures.ping ? [figures.ping.while_busy] : []));
  const where = { down_bps: down.rate_bps, up_bps: up.rate_bps, while_busy: busy.length > 0 && busy.every((one) => one) };
  return first.to_load.flatMap((label) => loading(label, where) ?? []);
}
