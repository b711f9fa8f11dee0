/** A catalogue and outcomes for tests. The catalogue is a cut of what Python wrote. */

import { readFileSync } from "node:fs";
import { readOutcome } from "../../src/engine/outcome";
import type { Catalogue, Info, Outcome } from "../../src/engine/types";

export const catalogue = JSON.parse(readFileSync(new URL("../fixtures/catalogue.json", import.meta.url), "utf8")) as Catalogue;

export function info(changes: Partial<Info> = {}): Info {
  return {
    name: "office",
    title: "An office",
    kind: "preset",
    flows: 403,
    span_s: 20,
    rtt_median_s: 0.02,
    fixed_rtt_s: 0.004,
    link: { rate_bps: 20e6, reverse_rate_bps: 10e6, buffer: { packets: 300 }, reverse_buffer: null, rtt_s: null },
    notes: [],
    groups: [],
    ...changes,
  };
}

export interface Told {
  ping?: number;
  short?: number;
  pages?: number;
  mos?: number;
  /** What long transfers get, Mbit/s. */
  long?: number;
  delay?: number;
}

export function outcome(label: string, { ping, short, pages, mos, long, delay = 0.05 }: Told): Outcome {
  const way = { utilisation: 0.6, throughput_mbps: 12, loss: 0.01, marks: 0, queue_mean_packets: 20, delay_mean_s: delay };
  const times = (p95_s: number, p50_s: number): object => ({ flows: 10, unfinished: 0, p50_s, p95_s, p99_s: p95_s });
  return readOutcome(
    JSON.stringify({
      workload: "office",
      discipline: { id: label, label },
      figures: {
        ping: ping === undefined ? null : { probes: 100, idle_ms: 20, mean_ms: ping * 800, p50_ms: ping * 700, p95_ms: ping * 1000, p99_ms: ping * 1100, loss: 0, grade: "C", while_busy: false, busy_share: null },
        short: short === undefined ? null : times(short, short / 2),
        pages: pages === undefined ? null : { pages: 8, ...times(pages, pages / 2) },
        call: mos === undefined ? null : { from: "synthetic", mos, down: null, up: null },
        long: null,
      },
      long: long === undefined ? null : { flows: 3, down_mbps: long, up_mbps: 0 },
      link: { down: way, up: way },
    }),
  );
}
