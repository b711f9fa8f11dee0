/** The figures of the first screen: where each is in an outcome, what is better, and how two compare. */

import type { Interval, Outcome, Ping, Times } from "../engine/types";
import { duration, percent, three } from "../state/units";

export interface Metric {
  id: string;
  title: string;
  /** What it is, in one line. */
  about: string;
  unit: "s" | "mos" | "share" | "ratio" | "mbps";
  better: "less" | "more" | "neither";
  value(outcome: Outcome): number | null;
  /** Of a figure that is taken while the link is busy: whether it was, and the figure over the whole time. */
  loaded?(outcome: Outcome): boolean;
  whole?(outcome: Outcome): number | null;
  /** Small print below the figure. */
  detail(outcome: Outcome): string;
  /** As a word of a sentence; null: not told in one. */
  phrase: string | null;
}

function ms(value: number | null | undefined): number | null {
  return value === null || value === undefined ? null : value / 1000;
}

/** A percentile that the engine does not tell although there are transfers: so many of them never ended. */
function ended(value: number | null | undefined, count: number | undefined): number | null {
  return value ?? ((count ?? 0) > 0 ? Infinity : null);
}

/** 95 % interval of the figure, in its unit. */
function interval(ends: Interval | undefined, text: (value: number) => string): string {
  return ends ? `95 % interval ${text(ends[0])} to ${text(ends[1])}` : "";
}

function lines(...parts: string[]): string {
  return parts.filter((part) => part !== "").join("; ");
}

function count(times: Times | null): string {
  if (times === null) return "";
  const flows = `of ${times.flows.toLocaleString("en-US")}`;
  return times.unfinished > 0 ? `${flows}, ${times.unfinished.toLocaleString("en-US")} unfinished` : flows;
}

/** In which time a ping was taken. */
function load({ while_busy, busy_share }: Ping): string {
  if (busy_share === null || busy_share === undefined) return "";
  return while_busy ? `the link is busy ${percent(busy_share)} of the time` : "the link is never busy: over the whole time";
}

/** A figure of two outcomes that are compared: over the whole time of both where the link was busy in one of them only. */
export function both(metric: Metric, first: Outcome, other: Outcome): [number | null, number | null] {
  const unlike = metric.loaded?.(first) !== metric.loaded?.(other);
  const value = (outcome: Outcome): number | null => (unlike && metric.whole ? metric.whole(outcome) : metric.value(outcome));
  return [value(first), value(other)];
}

export const METRICS: Metric[] = [
  {
    id: "ping",
    title: "Ping under load",
    about: "95 of 100 pings are faster that were sent while the link was busy",
    unit: "s",
    better: "less",
    value: ({ figures }) => ms(figures.ping?.p95_ms),
    detail({ figures }) {
      const { ping } = figures;
      if (ping === null) return "";
      const parts = [load(ping)];
      if (ping.idle_ms !== null) parts.push(`idle ${duration(ping.idle_ms / 1000)}`);
      if (ping.grade) parts.push(`grade ${ping.grade}`);
      if (ping.loss) parts.push(`${percent(ping.loss)} lost`);
      return lines(parts.filter((part) => part !== "").join(", "), interval(ping.p95_ci95, (value) => duration(value / 1000)));
    },
    loaded: ({ figures }) => figures.ping?.while_busy ?? false,
    whole: ({ figures }) => ms(figures.ping?.p95_all_ms ?? figures.ping?.p95_ms),
    phrase: "ping under load",
  },
  {
    id: "short",
    title: "Short transfers",
    about: "at most 100 kB: 95 of 100 are faster",
    unit: "s",
    better: "less",
    value: ({ figures }) => ended(figures.short?.p95_s, figures.short?.flows),
    detail: ({ figures }) => lines(count(figures.short), interval(figures.short?.p95_ci95, duration)),
    phrase: "short transfers",
  },
  {
    id: "pages",
    title: "Page load",
    about: "95 of 100 web pages are complete sooner",
    unit: "s",
    better: "less",
    value: ({ figures }) => ended(figures.pages?.p95_s, figures.pages?.pages),
    detail: ({ figures }) => lines(count(figures.pages && { ...figures.pages, flows: figures.pages.pages }), interval(figures.pages?.p95_ci95, duration)),
    phrase: "web pages",
  },
  {
    id: "call",
    title: "Call quality",
    about: "mean opinion score (MOS) of a voice call: 1 is bad, 4.5 the best",
    unit: "mos",
    better: "more",
    value: ({ figures }) => figures.call?.mos ?? null,
    detail({ figures }) {
      const { call } = figures;
      if (call === null) return "";
      const from = { synthetic: "a call added to the link", workload: "calls of the workload", capture: "calls of the capture" };
      return lines(from[call.from], interval(call.mos_ci95, (value) => value.toFixed(1)));
    },
    loaded: ({ figures }) => figures.call?.while_busy ?? false,
    whole: ({ figures }) => figures.call?.mos_all ?? figures.call?.mos ?? null,
    phrase: "the call",
  },
  {
    id: "long",
    title: "Long transfers",
    about: "above 1 MB, or without end: what they get together",
    unit: "mbps",
    better: "more",
    value: ({ long }) => (long === null ? null : long.down_mbps + long.up_mbps),
    detail({ long }) {
      if (long === null) return "";
      return `${long.flows.toLocaleString("en-US")} of them: ${three(long.down_mbps)} Mbit/s down, ${three(long.up_mbps)} up`;
    },
    phrase: "long transfers",
  },
];

/** Only workloads with films have it. */
export const FILM_METRIC: Metric = {
  id: "film",
  title: "Films stand still",
  about: "share of the time since they began",
  unit: "share",
  better: "less",
  value: ({ figures }) => figures.video?.stalled_share ?? null,
  detail({ figures }) {
    const { video } = figures;
    return video ? `${video.streams} ${video.streams === 1 ? "film" : "films"}, ${video.stalls} ${video.stalls === 1 ? "stall" : "stalls"}` : "";
  },
  phrase: "films at a standstill",
};

/** Only captures with such streams have it. */
export const STREAM_METRIC: Metric = {
  id: "streams",
  title: "Loss of UDP streams",
  about: "share of the packets of streams of 10 s or more",
  unit: "share",
  better: "less",
  value: ({ figures }) => figures.streams?.loss ?? null,
  detail({ figures }) {
    const { streams } = figures;
    if (!streams) return "";
    const count = `${streams.count} ${streams.count === 1 ? "stream" : "streams"}`;
    return streams.count > 1 && streams.loss_worst !== null ? `${count}, ${percent(streams.loss_worst)} in the worst` : count;
  },
  phrase: "loss of UDP streams",
};

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
