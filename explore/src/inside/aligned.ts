/** Queues of several runs over one axis of time. */

import uPlot from "uplot";
import type { Outcome } from "../engine/types";

/** One axis of time for all: samples of runs that ended at other times are missing there. */
export function aligned(outcomes: (Outcome | null)[], bytes: boolean): uPlot.AlignedData | null {
  const tables = outcomes.map((outcome) => {
    const { queue } = outcome ?? { queue: { time_s: [], packets: [], bytes: [] } };
    return [queue.time_s, bytes ? queue.bytes : queue.packets] as uPlot.AlignedData;
  });
  const longest = tables.reduce((a, b) => (b[0].length > a[0].length ? b : a), [[]] as unknown as uPlot.AlignedData);
  if (longest[0].length === 0) return null;
  const same = tables.every((table) => table[0].every((time, at) => time === longest[0][at]));
  if (!same) return uPlot.join(tables);
  const fill = (values: ArrayLike<number | null | undefined>): (number | null)[] => Array.from({ length: longest[0].length }, (_, at) => values[at] ?? null);
  return [longest[0], ...tables.map((table) => fill(table[1] ?? []))] as uPlot.AlignedData;
}
