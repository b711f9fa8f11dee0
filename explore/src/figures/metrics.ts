/**
 * The figures of the first screen: where each is in an outcome, what is better, and how two compare. What users feel
 * comes with the catalogue: `crates/metrics/src/measures.rs` lists it.
 */

import type { Catalogue, CatalogueMeasure, Outcome, Ping, TransferTimes, UserFigures } from "../engine/types";
import { duration, percent, three } from "../state/units";

export interface Metric {
  id: string;
  title: string;
  /** What it is, in one line. */
  about: string;
  unit: "s" | "mos" | "share" | "ratio" | "mbps";
  better: "less" | "more" | "neither";
  value(outcome: Outcome): number | null;
  /** Whether the row is hidden where no run has such a figure. */
  optional?: boolean;
  /** What stands below a run without such traffic. */
  absent?: string;
  /** Of a figure that is taken while the link is busy: whether it was, and the figure over the whole time. */
  loaded?(outcome: Outcome): boolean;
  whole?(outcome: Outcome): number | null;
  /** Small print below the figure. */
  detail(outcome: Outcome): string;
  /** As a word of a sentence; null: not told in one. */
  phrase: string | null;
}

function count(times: TransferTimes | null): string {
  if (times === null) return "";
  const flows = `of ${times.flows.toLocaleString("en-US")}`;
  return times.unfinished > 0 ? `${flows}, ${times.unfinished.toLocaleString("en-US")} unfinished` : flows;
}

/** In which time a ping was taken. */
function load({ while_busy, busy_share }: Ping): string {
  if (busy_share === null) return "";
  return while_busy ? `the link is busy ${percent(busy_share)} of the time` : "the link is never busy: over the whole time";
}

/** A figure of two outcomes that are compared: over the whole time of both where the link was busy in one of them only. */
export function both(metric: Metric, first: Outcome, other: Outcome): [number | null, number | null] {
  const unlike = metric.loaded?.(first) !== metric.loaded?.(other);
  const value = (outcome: Outcome): number | null => (unlike && metric.whole ? metric.whole(outcome) : metric.value(outcome));
  return [value(first), value(other)];
}

/** What stands below a figure, by the part of the figures that it is of. */
const DETAILS: Record<string, (figures: UserFigures) => string> = {
  ping({ ping }) {
    if (ping === null) return "";
    const parts = [load(ping), `idle ${duration(ping.idle_ms / 1000)}`, ping.grade === null ? "" : `grade ${ping.grade}`];
    if (ping.loss) parts.push(`${percent(ping.loss)} lost`);
    return parts.filter((part) => part !== "").join(", ");
  },
  short: ({ short }) => count(short),
  long: ({ long }) => count(long),
  pages: ({ pages }) => count(pages && { ...pages, flows: pages.pages }),
  call({ call }) {
    if (call === null) return "";
    return { synthetic: "a call added to the link", workload: "calls of the workload", capture: "calls of the capture" }[call.from];
  },
  video({ video }) {
    return video ? `${video.streams} ${video.streams === 1 ? "film" : "films"}, ${video.stalls} ${video.stalls === 1 ? "stall" : "stalls"}` : "";
  },
  streams({ streams }) {
    if (!streams) return "";
    const shown = `${streams.count} ${streams.count === 1 ? "stream" : "streams"}`;
    return streams.count > 1 && streams.missing_worst !== null ? `${shown}, ${percent(streams.missing_worst)} in the worst` : shown;
  },
  conferences({ conferences }) {
    if (!conferences) return "";
    const freezes = `${conferences.freezes.toLocaleString("en-US")} ${conferences.freezes === 1 ? "freeze" : "freezes"}`;
    return `${conferences.count} ${conferences.count === 1 ? "video" : "videos"}, ${freezes}`;
  },
  games: ({ games }) => (games ? `${games.count} ${games.count === 1 ? "game" : "games"}` : ""),
};

/** A row of the catalogue as a figure of an outcome. */
function measured(measure: CatalogueMeasure): Metric {
  const { id, title, about, phrase, absent, part, unit, better } = measure;
  const per = unit === "ms" ? 1000 : 1;
  const of = ({ figures }: Outcome): Record<string, unknown> | null => (figures as unknown as Record<string, Record<string, unknown> | null | undefined>)[part] ?? null;
  const figure = (own: Record<string, unknown> | null, key: string): number | null => {
    const value = own?.[key];
    return typeof value === "number" ? value / per : null;
  };
  const metric: Metric = {
    id,
    title,
    about,
    unit: unit === "ms" ? "s" : unit,
    better,
    optional: absent === "",
    absent,
    value(outcome) {
      const own = of(outcome);
      const ends = own === null || !("unfinished" in own) ? null : Number(own["flows"] ?? own["pages"] ?? 0);
      return figure(own, measure.field) ?? (ends !== null && ends > 0 && metric.unit === "s" ? Infinity : null);
    },
    detail(outcome) {
      const ends = of(outcome)?.[measure.interval] as [number, number] | null | undefined;
      const interval = ends ? `95 % interval ${shown(metric, ends[0] / per)} to ${shown(metric, ends[1] / per)}` : "";
      return [DETAILS[part]?.(outcome.figures) ?? "", interval].filter((text) => text !== "").join("; ");
    },
    phrase,
  };
  if (measure.whole !== "") {
    metric.loaded = (outcome) => of(outcome)?.["while_busy"] === true;
    metric.whole = (outcome) => figure(of(outcome), measure.whole) ?? metric.value(outcome);
  }
  return metric;
}

const LONG_METRIC: Metric = {
  id: "long",
  title: "Long transfers",
  about: "above 1 MB, or without end: what they get together",
  unit: "mbps",
  better: "more",
  absent: "no long transfers in it",
  value: ({ long }) => (long === null ? null : long.down_mbps + long.up_mbps),
  detail({ long }) {
    if (long === null) return "";
    return `${long.flows.toLocaleString("en-US")} of them: ${three(long.down_mbps)} Mbit/s down, ${three(long.up_mbps)} up`;
  },
  phrase: "long transfers",
};

/** What users feel, in the order of rows: those of every workload, then those that only some have. */
export function metricsOf({ measures }: Pick<Catalogue, "measures">): Metric[] {
  const found = measures.map(measured);
  return [...found.filter(({ optional }) => !optional), LONG_METRIC, ...found.filter(({ optional }) => optional)];
}

export const ATTACK_METRIC: Metric = {
  id: "attacker",
  title: "Attacker gets",
  about: "times its fair share of the link: 1 is fair",
  unit: "ratio",
  better: "less",
  value: ({ attacker }) => (attacker === null || attacker.fair_share === 0 ? null : attacker.share / attacker.fair_share),
  detail({ attacker }) {
    if (attacker === null) return "";
    return `${three(attacker.goodput_mbps)} Mbit/s, ${percent(attacker.share)} of the link; fair is ${percent(attacker.fair_share)}`;
  },
  phrase: null,
};

/** What a figure without a number means, by its unit of time. */
export function neverEnded(metric: Metric): string {
  return metric.unit === "s" ? "more than 5 of 100 never ended" : "never";
}

/** What the link itself does, small. */
export const LINK_METRICS: Metric[] = [
  {
    id: "delay",
    title: "Wait in the queue",
    about: "mean of a packet, down",
    unit: "s",
    better: "neither",
    value: ({ link }) => link.down.delay_mean_s,
    detail: () => "",
    phrase: null,
  },
  {
    id: "utilisation",
    title: "Link in use",
    about: "share of the time, down",
    unit: "share",
    better: "neither",
    value: ({ link }) => link.down.utilisation,
    detail: ({ link }) => `up ${percent(link.up.utilisation)}`,
    phrase: null,
  },
  {
    id: "loss",
    title: "Packets dropped",
    about: "share of those that came, down",
    unit: "share",
    better: "neither",
    value: ({ link }) => link.down.loss,
    detail: ({ link }) => (link.down.marks > 0 ? `${link.down.marks.toLocaleString("en-US")} marked` : ""),
    phrase: null,
  },
];

export function shown(metric: Metric, value: number): string {
  if (value === Infinity) return "never";
  switch (metric.unit) {
    case "s":
      return duration(value);
    case "mos":
      return value.toFixed(1);
    case "share":
      return percent(value);
    case "ratio":
      return `${three(value)} ×`;
    case "mbps":
      return `${three(value)} Mbit/s`;
  }
}

export type Verdict = "better" | "worse" | "same";

export interface Change {
  verdict: Verdict;
  /** With sign and unit: "−93 %", "+0.4". */
  text: string;
  /** Natural logarithm of the ratio, or the difference of MOS over 1; above 0 is better. */
  gain: number;
}

/** Changes below these say nothing: one run is one draw. */
const SAME_SHARE = 0.03;
const SAME_MOS = 0.05;
const SAME_POINTS = 0.5;
/** What it weighs that so many transfers end at all: as much as a tenth of the time. */
const ENDS_GAIN = Math.log(10);

export function change(metric: Metric, before: number, after: number): Change | null {
  if (metric.unit === "mos") {
    const difference = Math.round(after * 10) / 10 - Math.round(before * 10) / 10;
    const gain = metric.better === "less" ? before - after : after - before;
    if (Math.abs(after - before) < SAME_MOS) return { verdict: "same", text: "±0", gain: 0 };
    return { verdict: gain > 0 ? "better" : "worse", text: signed(difference, difference.toFixed(1)), gain };
  }
  if (metric.unit === "share") {
    const points = (after - before) * 100;
    if (Math.abs(points) < SAME_POINTS) return { verdict: "same", text: "±0", gain: 0 };
    const gain = (metric.better === "less" ? -points : points) / 100;
    return { verdict: gain > 0 ? "better" : "worse", text: `${signed(points, three(points))} points`, gain };
  }
  if (before === Infinity || after === Infinity) {
    if (before === after) return null;
    const ends = before === Infinity;
    return { verdict: ends ? "better" : "worse", text: ends ? "it ends" : "it does not end", gain: ends ? ENDS_GAIN : -ENDS_GAIN };
  }
  if (before <= 0 || after <= 0) return null;
  const ratio = after / before;
  const gain = (metric.better === "less" ? -1 : 1) * Math.log(ratio);
  if (Math.abs(ratio - 1) < SAME_SHARE) return { verdict: "same", text: "±0 %", gain: 0 };
  const text = ratio >= 10 ? `× ${three(ratio)}` : signed(ratio - 1, `${Math.round((ratio - 1) * 100)} %`);
  return { verdict: gain > 0 ? "better" : "worse", text, gain };
}

function signed(sign: number, text: string): string {
  return sign < 0 ? text.replace("-", "−") : `+${text}`;
}
