/** What the engine is told and what it answers: the JSON that `crates/explore` reads and writes. Units are in the names. */

export type Buffer = { packets: number } | { bytes: number };

export interface Link {
  rate_bps: number;
  reverse_rate_bps: number | null;
  buffer: Buffer;
  /** Of the way up; null: as down. */
  reverse_buffer?: Buffer | null;
  rtt_s: number | null;
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
}

/** 95 % interval. */
export type Interval = [number, number] | null;

export interface Ping {
  probes: number;
  idle_ms: number | null;
  mean_ms: number | null;
  p50_ms: number | null;
  p95_ms: number | null;
  p99_ms: number | null;
  p95_ci95?: Interval;
  loss: number | null;
  grade: string | null;
  /** Whether the figures above are of the seconds in which the link was busy; else of the whole time. */
  while_busy?: boolean;
  /** Share of the time in which it was busy; null where that is not known. */
  busy_share?: number | null;
  mean_all_ms?: number | null;
  p95_all_ms?: number | null;
}

export interface Times {
  flows: number;
  unfinished: number;
  p50_s: number | null;
  p95_s: number | null;
  p99_s: number | null;
  p50_ci95?: Interval;
  p95_ci95?: Interval;
}

export interface Pages {
  pages: number;
  unfinished: number;
  p50_s: number | null;
  p95_s: number | null;
  p99_s: number | null;
  p50_ci95?: Interval;
  p95_ci95?: Interval;
}

export interface CallWay {
  delay_ms: number | null;
  jitter_ms: number | null;
  loss: number | null;
  late: number | null;
  mos: number | null;
}

export interface Call {
  from: "synthetic" | "workload" | "capture";
  mos: number | null;
  mos_ci95?: Interval;
  down: CallWay | null;
  up: CallWay | null;
  /** Of a synthetic one only, as of a ping. */
  while_busy?: boolean;
  mos_all?: number | null;
}

/** UDP of a capture that lasts 10 s or more. */
export interface Streams {
  count: number;
  loss: number | null;
  loss_worst: number | null;
}

export interface Goodput {
  flows: number;
  goodput_mbps_p50: number | null;
  goodput_mbps_p5: number | null;
}

export interface Figures {
  ping: Ping | null;
  short: Times | null;
  long: Times | null;
  pages: Pages | null;
  call: Call | null;
  video?: { streams: number; stalls: number; stalled_share: number | null } | null;
  downloads: Goodput | null;
  uploads: Goodput | null;
  streams?: Streams | null;
}

export interface Way {
  utilisation: number;
  throughput_mbps: number;
  loss: number;
  marks: number;
  queue_mean_packets: number | null;
  delay_mean_s: number | null;
}

export interface Transfers {
  id: number[];
  size_bytes: number[];
  start_s: number[];
  response_s: (number | null)[];
  up: number[];
  kind: number[];
}

export interface Mechanism {
  id: string;
  page: string;
  values: Record<string, unknown>;
  sentence: string;
}

/** The same transfers in a model and in the run, those that finished in both. */
export interface Beside {
  transfers: number;
  model_p50_s: number | null;
  run_p50_s: number | null;
  model_p95_s: number | null;
  run_p95_s: number | null;
}

export interface Model {
  policy: string;
  page: string;
  direction: "down" | "up";
  short: Beside | null;
  long: Beside | null;
}

/** At the queue of one way: mean time that a packet of a kind (row) waits while one of another (column) is sent. */
export interface Waits {
  direction: "down" | "up";
  packets: number[];
  seconds: number[][];
  /** While nothing was sent, or what was sent is not known. */
  other_s: number[];
}

export interface Inside {
  flows: { id: number[]; kind: number[]; size_bytes: (number | null)[]; up: number[] };
  packets: {
    flow: number[];
    number: number[];
    bytes: number[];
    sent_ns: number[];
    queued_ns: (number | null)[];
    departed_ns: (number | null)[];
    received_ns: (number | null)[];
    dropped_ns: (number | null)[];
    /** 1 for what the receiver of the flow sends: acknowledgements, and answers. */
    back: number[];
    /** 1 for what only acknowledges, and has numbers of its own. */
    ack: number[];
    /** 1 for what a queue marked (ECN). */
    marked: number[];
  };
  timeouts: { flow: number[]; time_ns: number[] };
  left_out: number;
}

export interface Outcome {
  workload: string;
  discipline: { id: string; label: string };
  figures: Figures;
  attacker: { goodput_mbps: number; share: number; fair_share: number } | null;
  /** What the transfers above 1 MB, and those without end, got together. */
  long: { flows: number; down_mbps: number; up_mbps: number } | null;
  link: { down: Way; up: Way };
  transfers: Transfers;
  kinds: string[];
  queue: { time_s: number[]; packets: number[]; bytes: number[] };
  mechanisms: Mechanism[];
  model: Model | null;
  /** Told together with `inside`. */
  waits: Waits[] | null;
  inside: Inside | null;
  /** The command that switches the discipline on in front of this link; null where there is none. */
  load: string | null;
  /** What `Engine.advise` wants of this run. */
  asked: unknown;
}

/** What the rule of the recommendation says of runs over one link: `crates/metrics/src/recommendation.rs`. */
export interface Recommendation {
  kind: "use" | "fastest" | "no_difference" | "never_full" | "overloaded" | "unanswered";
  discipline: string | null;
  sentence: string;
  doubt: string;
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
