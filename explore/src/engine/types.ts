/** What the engine is asked, the JSON that `crates/explore` reads, and the catalogue. Units are in the names. */

/** What it answers. */
export type * from "./outcome_types";

export type Buffer = { packets: number } | { bytes: number };

export interface Link {
  rate_bps: number;
  reverse_rate_bps: number | null;
  buffer: Buffer;
  /** Of the way up; null: as down. */
  reverse_buffer?: Buffer | null;
  rtt_s: number | null;
}

/** Packets, and their bytes. */
export interface Amount {
  count: number;
  bytes: number;
}

/** How much of a capture was seen, used, and left out by reason: `seen` is the sum of the others. */
export interface Accounted {
  source: string[];
  unit: "packets" | "rows";
  seen: Amount;
  used: Amount;
  left_out: Record<string, Amount>;
  partial: string[];
  cannot_answer: string | null;
}

export interface Info {
  name: string;
  title: string;
  kind: "preset" | "capture";
  flows: number;
  span_s: number;
  rtt_median_s: number | null;
  /** The part of the round-trip time that no slider changes. */
  fixed_rtt_s?: number;
  link: Link;
  notes: string[];
  offered?: { down_mbps: number; up_mbps: number };
  peak_bps?: { down: number; up: number };
  groups: string[];
  /** Of a capture. */
  account?: Accounted[];
}

export interface Attack {
  kind: string;
  rate_bps: number;
  connections: number;
}

export interface Discipline {
  id: string;
  options: Record<string, string>;
}

export interface Span {
  from_s: number;
  to_s: number;
}

export interface Request {
  workload: string;
  link: Link;
  discipline: Discipline;
  seed: number;
  attack: Attack | null;
  inside: Span | null;
  /** The discipline is where the command puts it; at the link itself without. */
  as_loaded?: AsLoaded;
}

/** A router behind the link, which shapes both directions. */
export interface AsLoaded {
  down_bps: number;
  up_bps: number;
  /** Whether ping and call are of the busy seconds, as in the runs at the link. */
  while_busy: boolean;
}

export interface CatalogueOption {
  name: string;
  default: string | number | boolean | null;
  meaning: string;
  unit: string;
  min?: number;
  max?: number;
  choices?: string[];
}

export interface CatalogueDiscipline {
  id: string;
  title: string;
  summary: string;
  /** Where it runs, in words. */
  runs: string;
  page: string;
  options: CatalogueOption[];
  shortlist: boolean;
}

export interface CatalogueAttack {
  id: string;
  title: string;
  summary: string;
  page: string;
  /** The field of a request that it heeds. */
  of: "rate_bps" | "connections";
  source: string;
  /** Its part of a scenario file, and of a value for --set. */
  section: string;
  value: string;
}

export interface CataloguePreset {
  name: string;
  title: string;
  file: string;
  /** Its scenario file, with braces in the place of what the page moves. */
  scenario: string;
  fixed_rtt_s: number;
  /** Whether somebody may join who bends his traffic to the scheduler. */
  attacks: boolean;
}

/** A row of figures: where it stands in the figures of an outcome, and its words. */
export interface CatalogueMeasure {
  id: string;
  title: string;
  about: string;
  /** As a word of a sentence. */
  phrase: string;
  /** What a run without such traffic shows; empty: the row is hidden then. */
  absent: string;
  part: string;
  field: string;
  /** Key of its 95 % interval; empty without one. */
  interval: string;
  /** Key of the figure over the whole time, of one that is taken while the link is busy; else empty. */
  whole: string;
  unit: "s" | "ms" | "mos" | "share" | "mbps";
  better: "less" | "more";
}

export interface Catalogue {
  version: string;
  disciplines: CatalogueDiscipline[];
  presets: CataloguePreset[];
  attacks: CatalogueAttack[];
  measures: CatalogueMeasure[];
  glossary: Record<string, string>;
  commands: Record<string, string>;
}
