/** One sentence on top: which discipline is better, for whom, by how much. It says nothing that is not in the figures. */

import type { Outcome } from "../engine/types";
import { change, FILM_METRIC, METRICS, shown, type Change, type Metric } from "./metrics";

export interface Column {
  label: string;
  outcome: Outcome;
}

interface Told {
  metric: Metric;
  change: Change;
  before: number;
  after: number;
}

/** Below this use of the busier direction no queue forms that a discipline could order. */
const IDLE_SHARE = 0.02;

function compare(first: Outcome, other: Outcome): Told[] {
  return [...METRICS, FILM_METRIC].flatMap((metric) => {
    const before = metric.value(first);
    const after = metric.value(other);
    if (before === null || after === null) return [];
    const found = change(metric, before, after);
    return found === null ? [] : [{ metric, change: found, before, after }];
  });
}

/** Sum of the gains: of logarithms of ratios, so that a half and a double weigh the same. */
function score(told: Told[]): number {
  return told.reduce((sum, { change: { gain } }) => sum + gain, 0);
}

function upperFirst(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function clause({ metric, before, after, change: { text } }: Told): string {
  return `${metric.phrase ?? metric.title} ${shown(metric, after)} instead of ${shown(metric, before)} (${text})`;
}

function list(parts: string[]): string {
  return parts.length < 2 ? parts.join("") : `${parts.slice(0, -1).join(", ")} and ${parts.at(-1) ?? ""}`;
}

/** The sentence, and the place of the column that it is about. */
export function answer(columns: Column[]): { text: string; best: number } {
  const [first, ...others] = columns;
  if (first === undefined) return { text: "", best: 0 };
  if (others.length === 0) {
    const told = METRICS.flatMap((metric) => {
      const value = metric.value(first.outcome);
      return value === null ? [] : [`${metric.phrase ?? metric.title} ${shown(metric, value)}`];
    });
    return { text: `${upperFirst(first.label)}: ${list(told)}. Add a discipline to compare.`, best: 0 };
  }
  const compared = others.map((other, place) => ({ label: other.label, told: compare(first.outcome, other.outcome), place: place + 1 }));
  const best = compared.reduce((a, b) => (score(b.told) > score(a.told) ? b : a));
  const worse = best.told.filter(({ change: { verdict } }) => verdict === "worse");
  const better = best.told.filter(({ change: { verdict } }) => verdict === "better");
  const whom = columns.length > 2 ? `Of these, ${best.label}` : upperFirst(best.label);

  if (best.told.length === 0) {
    return { text: `Neither ${first.label} nor ${best.label} has figures to compare: the workload has no transfers of these kinds.`, best: best.place };
  }
  if (better.length === 0 && worse.length === 0) {
    const { down, up } = first.outcome.link;
    const idle = Math.max(down.utilisation, up.utilisation) < IDLE_SHARE || Math.max(down.delay_mean_s ?? 0, up.delay_mean_s ?? 0) < 1e-4;
    const why = idle ? "the link is hardly ever full, and without a queue no discipline matters" : "what they do with this queue is alike";
    return { text: `No figure changes by 3 % or more with ${list(others.map(({ label }) => label))} in place of ${first.label}: ${why}.`, best: 0 };
  }
  const strongest = (told: Told[]): string[] =>
    [...told].sort((a, b) => Math.abs(b.change.gain) - Math.abs(a.change.gain)).slice(0, 3).map(clause);
  if (better.length === 0) {
    return { text: `Keep ${first.label}: with ${best.label} nothing here gets better, and these get worse: ${list(strongest(worse))}.`, best: 0 };
  }
  const price = worse.length === 0 ? "; nothing here gets worse" : `; the price: ${list(strongest(worse))}`;
  const verdict = score(best.told) >= 0 ? "is better for most" : "helps some and costs others more";
  return { text: `${whom} ${verdict}: ${list(strongest(better))}${price}.`, best: best.place };
}
