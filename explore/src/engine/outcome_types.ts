/** What an engine answers: made by `make types` from `crates/explore` and `crates/metrics`. */

/** What the page shows. */
export interface Outcome {
  workload: string;
  discipline: Named;
  figures: UserFigures;
  attacker: Attacker | null;
  long: Long | null;
  link: Ways;
  kinds: string[];
  transfers: Transfers;
  queue: Queue;
  mechanisms: Mechanism[];
  model: Model | null;
  waits: [Waits, Waits] | null;
  inside: Inside | null;
  /** This run, as the rule of the recommendation is asked; `advise` takes it together with others. */
  asked: unknown;
  /** The command that switches the discipline on in front of this link; null where there is none. */
  load: string | null;
}

export interface Named {
  id: string;
  label: string;
}

/** What users of a link feel: `users` of the summary in `docs/tables.md`. null where the run has no traffic for it. */
export interface UserFigures {
  /** Times by size. */
  transfers: TransfersBySize | null;
  /** Transfers of at most 100 kB. */
  short: TransferTimes | null;
  /** Transfers above 1 MB; the largest hundredth where no flow of the list brings one. */
  long: TransferTimes | null;
  /** Ping while the link is busy. */
  ping: Ping | null;
  /** A call, or several. */
  call: Call | null;
  /** Load times of pages. */
  pages: Pages | null;
  /** Films. */
  video: Video | null;
  /** Goodput of downloads above 1 MB. */
  downloads: Goodput | null;
  /** Goodput of uploads above 1 MB. */
  uploads: Goodput | null;
  /** UDP streams of a capture, and what is lost of them or late. */
  streams: Streams | null;
  /** Video of conferences among them. */
  conferences: Conferences | null;
  /** Games among them. */
  games: Games | null;
}

/** Times by size, of either direction and of both. */
export interface TransfersBySize {
  /** Toward the internal side. */
  down: TransferSizes[];
  /** From it. */
  up: TransferSizes[];
  /** Both. */
  all: TransferSizes[];
}

/** Times of the transfers of one size. */
export interface TransferSizes {
  /** Above so many kB. */
  from_kb: number;
  /** Up to so many kB; null without bound. */
  to_kb: number | null;
  /** How many. */
  flows: number;
  /** Of these, those that did not finish. */
  unfinished: number;
  /** Median, seconds. */
  p50_s: number | null;
  /** 95 of 100 take at most this, seconds. */
  p95_s: number | null;
  /** 99 of 100 take at most this, seconds. */
  p99_s: number | null;
  /** 95 % interval of the median, seconds. */
  p50_ci95: [number, number] | null;
  /** 95 % interval of the 95th percentile, seconds. */
  p95_ci95: [number, number] | null;
}

/** Response times of some transfers. One that did not finish counts as an infinite time, so that a discipline gains nothing from starving some. */
export interface TransferTimes {
  /** How many. */
  flows: number;
  /** Of these, those that did not finish. */
  unfinished: number;
  /** Median, seconds. */
  p50_s: number | null;
  /** 95 of 100 take at most this, seconds. */
  p95_s: number | null;
  /** 99 of 100 take at most this, seconds. */
  p99_s: number | null;
  /** 95 % interval of the median, seconds. */
  p50_ci95: [number, number] | null;
  /** 95 % interval of the 95th percentile, seconds. */
  p95_ci95: [number, number] | null;
}

/** Round-trip times of the pings that were sent in busy seconds; of all pings where there are none of those. */
export interface Ping {
  /** Packets that count. */
  probes: number;
  /** Round trip on the idle link, milliseconds. */
  idle_ms: number;
  /** Whether only pings sent in busy seconds count. */
  while_busy: boolean;
  /** Share of all pings that were sent in busy seconds: that of the time for which the link was busy. null where nothing is known of the link. */
  busy_share: number | null;
  /** Mean of those that returned, milliseconds. */
  mean_ms: number | null;
  /** Median of these, milliseconds. */
  p50_ms: number | null;
  /** 95 of 100 of these take at most this, milliseconds. */
  p95_ms: number | null;
  /** 99 of 100 of these take at most this, milliseconds. */
  p99_ms: number | null;
  /** 95 % interval of `p95_ms`, milliseconds. */
  p95_ci95: [number, number] | null;
  /** Share that did not return. */
  loss: number;
  /** Of the increase of the mean over the idle link; null where the figures are not of busy seconds. */
  grade: Grade | null;
  /** Mean of all pings that returned, milliseconds. */
  mean_all_ms: number | null;
  /** 95 of 100 of all pings take at most this, milliseconds. */
  p95_all_ms: number | null;
}

/** How far a ping rises over the idle link: the grades of DSLReports' test for bufferbloat (docs/users.md). */
export type Grade = "A+" | "A" | "B" | "C" | "D" | "F";

/** A call, or the mean of several. */
export interface Call {
  /** Where the packets come from. */
  from: CallOrigin;
  /** How many; null of a synthetic one. */
  calls?: number;
  /** Toward the internal side. */
  down: CallWay;
  /** From it. */
  up: CallWay;
  /** Of the worse direction. */
  mos: number | null;
  /** 95 % interval of it: Student's over the windows of one call, or over the calls. */
  mos_ci95: [number, number] | null;
  /** Whether only packets sent in busy seconds count; null unless synthetic. */
  while_busy?: boolean;
  /** Mean opinion score of the whole call; null unless synthetic. */
  mos_all?: number;
}

/** Where the packets of a call come from. */
export type CallOrigin = "synthetic" | "workload" | "capture";

/** One direction. */
export interface CallWay {
  /** Mean delay of the network, one way, milliseconds. */
  delay_ms: number | null;
  /** Mean interarrival jitter, milliseconds. */
  jitter_ms: number | null;
  /** Share that the network lost. */
  loss: number | null;
  /** Share that came after its deadline. */
  late: number | null;
  /** Mean opinion score, the mean over the windows of the playout buffer. */
  mos: number | null;
}

/** Load times of pages. */
export interface Pages {
  /** How many. */
  pages: number;
  /** Of these, those of which a flow did not finish. */
  unfinished: number;
  /** Groups of connections of a capture that are none, as their client opened one after the other, or over more than 30 s. */
  series: number;
  /** Median, seconds. */
  p50_s: number | null;
  /** 95 of 100 take at most this, seconds. */
  p95_s: number | null;
  /** 99 of 100 take at most this, seconds. */
  p99_s: number | null;
  /** 95 % interval of the median, seconds. */
  p50_ci95: [number, number] | null;
  /** 95 % interval of the 95th percentile, seconds. */
  p95_ci95: [number, number] | null;
}

/** Films. */
export interface Video {
  /** How many. */
  streams: number;
  /** How often they stood still. */
  stalls: number;
  /** Time that they stood still over that and the time that they played. */
  stalled_share: number | null;
}

/** Goodput of the long transfers of one direction; an unfinished one counts as 0. */
export interface Goodput {
  /** How many. */
  flows: number;
  /** Median, Mbit/s. */
  goodput_mbps_p50: number | null;
  /** 95 of 100 have more than this, Mbit/s. */
  goodput_mbps_p5: number | null;
}

/** Streams of UDP, and what is lost of them. */
export interface Streams {
  /** How many: one direction counts as one. */
  count: number;
  /** Of these, directions of calls. */
  calls: number;
  /** Of these, video of conferences. */
  videos: number;
  /** Of these, directions of games. */
  games: number;
  /** Share of all their packets that the network lost; null when they sent none. */
  loss: number | null;
  /** The same of the stream that lost most. */
  loss_worst: number | null;
  /** Share of the packets that the link held for more than 100 ms, of the streams whose arrivals are known; null without. */
  late: number | null;
  /** Share of all their packets that were lost or late; of those lost alone where arrivals are not known. */
  missing: number | null;
  /** The same of the stream that has most of them. */
  missing_worst: number | null;
  /** 95 % interval of `missing`; null of one run. */
  missing_ci95: [number, number] | null;
}

/** Video of conferences. */
export interface Conferences {
  /** How many: one direction counts as one. */
  count: number;
  /** How often they stood still. */
  freezes: number;
  /** Share of their time for which they stood still. */
  frozen: number | null;
  /** The same of the one that stood still longest. */
  frozen_worst: number | null;
  /** 95 % interval of `frozen`; null of one run. */
  frozen_ci95: [number, number] | null;
}

/** Games. */
export interface Games {
  /** How many. */
  count: number;
  /** Median lag, there and back without the time between two updates, milliseconds. */
  lag_p50_ms: number | null;
  /** 95 of 100 are at most this, milliseconds. */
  lag_p95_ms: number | null;
  /** 95 % interval of `lag_p95_ms`; null of one run. */
  lag_p95_ci95: [number, number] | null;
}

/** What the attacker got of the way down. */
export interface Attacker {
  goodput_mbps: number;
  /** Of the link. */
  share: number;
  /** Of the link, were it shared evenly among the attacker and the users with a transfer without end or above 1 MB, what the others took being left to them. */
  fair_share: number;
}

/** What the transfers above 1 MB, and those without end, got together, be they over or not. */
export interface Long {
  flows: number;
  down_mbps: number;
  up_mbps: number;
}

export interface Ways {
  down: Way;
  up: Way;
}

/** What was counted at the queue of one way, and the link behind it. */
export interface Way {
  utilisation: number;
  throughput_mbps: number;
  /** Share of the packets that came to the queue. */
  loss: number;
  marks: number;
  queue_mean_packets: number | null;
  delay_mean_s: number | null;
}

/** A row for each transfer that began. */
export interface Transfers {
  id: number[];
  size_bytes: number[];
  start_s: number[];
  response_s: (number | null)[];
  up: number[];
  kind: number[];
}

/** The queue of the way down over time. */
export interface Queue {
  time_s: number[];
  packets: number[];
  bytes: number[];
}

/** A mechanism at work in a run. */
export interface Mechanism {
  /** Its name. */
  id: string;
  /** `down` or `up`, whose queue it is; `both` where it is not told. */
  direction: string;
  /** Page of the documentation that explains it, and the place there, as in `mechanisms#links-and-queues`. */
  page: string;
  /** Figures by name, with their units, in the order of the sentence. */
  values: Record<string, number>;
  /** What happened, in one sentence with these figures. */
  sentence: string;
}

/** Beside the run: the same transfers, those that finished in both. */
export interface Model {
  /** `ps`, `las` or `lfq`. */
  policy: string;
  /** Of the documentation. */
  page: string;
  /** `down` or `up`: the way that carries more. */
  direction: string;
  short: Beside | null;
  long: Beside | null;
}

export interface Beside {
  transfers: number;
  model_p50_s: number | null;
  run_p50_s: number | null;
  model_p95_s: number | null;
  run_p95_s: number | null;
}

/** Who waits for whom at the queue of one way: mean time that a packet of a kind (row) waits while one of another (column) is sent, s. */
export interface Waits {
  direction: string;
  packets: number[];
  seconds: number[][];
  other_s: number[];
}

/** What is shown. */
export interface Inside {
  from_s: number;
  to_s: number;
  flows: InsideFlows;
  packets: InsidePackets;
  timeouts: InsideTimeouts;
  /** Packets of that time that are left out for want of room. */
  left_out: number;
}

export interface InsideFlows {
  id: number[];
  kind: number[];
  size_bytes: number[];
  up: number[];
}

/** Times in ns; null for what did not happen. */
export interface InsidePackets {
  flow: number[];
  number: number[];
  bytes: number[];
  sent_ns: (number | null)[];
  queued_ns: (number | null)[];
  departed_ns: (number | null)[];
  received_ns: (number | null)[];
  dropped_ns: (number | null)[];
  /** 1 for what the receiver of the flow sends: acknowledgements, and answers of scripts. */
  back: number[];
  /** 1 for what only acknowledges, and has numbers of its own. */
  ack: number[];
  /** 1 for those that a queue marked. */
  marked: number[];
}

export interface InsideTimeouts {
  flow: number[];
  time_ns: number[];
}

/** What is recommended. */
export interface Recommendation {
  /** In one word. */
  kind: RecommendationKind;
  /** Label of the discipline; null where none is better than what is there. */
  discipline: string | null;
  /** Labels of those that do as well. */
  equal: string[];
  /** Labels of the disciplines to run where the command puts them, before it is asked again: the chosen one and the simplest of those that do as well. Empty where there is no command that shapes, and where it was asked with such runs. */
  to_load: string[];
  /** Of what hours are to be run where the command puts it, before it is asked again; null where there are no hours at the link, and where it was asked with them. */
  to_resample: ToResample | null;
  /** Where it runs, by the registry. */
  runs_on: string[];
  /** What gets better, a clause each. */
  gives: string[];
  /** What gets worse. */
  costs: string[];
  /** What the answer cannot know; empty where there is nothing. */
  doubt: string;
  /** All in words, with the command at its end where it says what to use. Gains and prices are those of the command where it was asked with what this gives. */
  sentence: string;
  /** What the discipline gives at the link itself, in words; empty where `sentence` says so. */
  at_the_link: string;
  /** The command of Mayfly that switches it on in both directions; null where there is none. */
  load: string | null;
  /** To what it shapes; null where no discipline is named, and for a link that varies. */
  shapes: Shapes | null;
}

/** Kind of a recommendation. */
export type RecommendationKind = "use" | "fastest" | "no_difference" | "never_full" | "overloaded" | "unanswered";

/** A discipline of which the rule takes hours as loaded, the ones that ran at the link. */
export interface ToResample {
  /** Label of the discipline. */
  discipline: string;
  /** Label of what is there, whose hours at the link each of its hours is compared with. */
  reference: string;
}

/** To what both directions are shaped. */
export interface Shapes {
  /** What arrives from the link. */
  down: Shape;
  /** What is sent to it. */
  up: Shape;
}

/** To what one direction is shaped. */
export interface Shape {
  /** Bit/s. */
  rate_bps: number;
  /** Limit of the queue, in what the kernel's discipline counts. */
  buffer: [number, BufferUnit];
}

/** What a limit counts. */
export type BufferUnit = "packets" | "bytes";
