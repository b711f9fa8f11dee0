/** Text of an engine to an outcome. What an engine does not tell is there, empty, so that every view can say so. */

import type { Outcome, UserFigures, Way } from "./types";

const NO_WAY: Way = { utilisation: 0, throughput_mbps: 0, loss: 0, marks: 0, queue_mean_packets: null, delay_mean_s: null };

const NO_FIGURES: UserFigures = {
  transfers: null,
  short: null,
  long: null,
  ping: null,
  call: null,
  pages: null,
  video: null,
  downloads: null,
  uploads: null,
  streams: null,
  conferences: null,
  games: null,
};

export function readOutcome(text: string): Outcome {
  const told = JSON.parse(text) as Partial<Outcome> & Pick<Outcome, "workload" | "discipline">;
  return {
    workload: told.workload,
    discipline: told.discipline,
    figures: { ...NO_FIGURES, ...told.figures },
    attacker: told.attacker ?? null,
    long: told.long ?? null,
    link: { down: told.link?.down ?? NO_WAY, up: told.link?.up ?? NO_WAY },
    transfers: told.transfers ?? { id: [], size_bytes: [], start_s: [], response_s: [], up: [], kind: [] },
    kinds: told.kinds ?? [],
    queue: told.queue ?? { time_s: [], packets: [], bytes: [] },
    mechanisms: told.mechanisms ?? [],
    model: told.model ?? null,
    waits: told.waits ?? null,
    inside: told.inside ?? null,
    load: told.load ?? null,
    asked: told.asked ?? null,
  };
}
