/** What the engine recommends of the runs that are shown; asked again when one of them is another. */

import type { Engine } from "../engine/engine";
import type { Outcome, Recommendation } from "../engine/types";

export class Advice {
  /** Whether an answer is on its way. */
  busy = false;
  private readonly engine: Engine;
  private readonly changed: () => void;
  private asked: readonly Outcome[] = [];
  private told: Recommendation | null | undefined = undefined;

  constructor(engine: Engine, changed: () => void) {
    this.engine = engine;
    this.changed = changed;
  }

  /** The recommendation of these runs. Until the engine has answered it is that of the runs before, undefined at first. */
  of(outcomes: readonly Outcome[]): Recommendation | null | undefined {
    const same = outcomes.length === this.asked.length && outcomes.every((outcome, place) => outcome === this.asked[place]);
    if (!same) {
      this.asked = outcomes;
      this.busy = outcomes.length > 1;
      if (this.busy) void this.ask(outcomes);
    }
    return this.told;
  }

  private async ask(outcomes: readonly Outcome[]): Promise<void> {
    let told: Recommendation | null | undefined;
    try {
      told = await this.engine.advise(outcomes);
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
