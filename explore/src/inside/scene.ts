/** Packets of a part of a run, in columns that a frame of the animation can pass over quickly. Times in seconds, Infinity for never. */

import type { Outcome } from "../engine/types";

/** A packet of anything but a long transfer that waits longer than this is a victim. */
export const VICTIM_S = 0.05;
const SHORT_BYTES = 100_000;
const LONG_BYTES = 1_000_000;

export interface Scene {
  from_s: number;
  to_s: number;
  rate_bps: number;
  count: number;
  flow: Int32Array;
  kind: Uint8Array;
  /** 0 short, 1 between, 2 long: the size of its transfer. */
  size: Uint8Array;
  bytes: Float64Array;
  sent: Float64Array;
  queued: Float64Array;
  departed: Float64Array;
  received: Float64Array;
  dropped: Float64Array;
  again: Uint8Array;
  marked: Uint8Array;
  /** Most bytes in the queue at once. */
  most_bytes: number;
  kinds: string[];
  drops: number;
  left_out: number;
  /** The queue as it grows and shrinks: after each of `time`, so many packets. */
  steps: { time: Float64Array; packets: Float64Array };
}

const NS = 1e-9;

/** `up`: of the queue of the way up. */
export function sceneOf(outcome: Outcome, from_s: number, to_s: number, rate_bps: number, up: boolean): Scene | null {
  const { inside } = outcome;
  if (inside === null) return null;
  const { packets, flows } = inside;
  const rows = new Map<number, number>();
  flows.id.forEach((id, row) => rows.set(id, row));
  const picked: number[] = [];
  packets.flow.forEach((flow, place) => {
    const row = rows.get(flow);
    const came = packets.queued_ns[place] ?? packets.dropped_ns[place];
    // What the receiver sends goes the other way.
    const goes_up = (flows.up[row ?? 0] === 1) !== (packets.back[place] === 1);
    if (row !== undefined && came !== null && came !== undefined && goes_up === up) picked.push(place);
  });
  const count = picked.length;
  const scene: Scene = {
    from_s,
    to_s,
    rate_bps,
    count,
    flow: new Int32Array(count),
    kind: new Uint8Array(count),
    size: new Uint8Array(count),
    bytes: new Float64Array(count),
    sent: new Float64Array(count),
    queued: new Float64Array(count),
    departed: new Float64Array(count),
    received: new Float64Array(count),
    dropped: new Float64Array(count),
    again: new Uint8Array(count),
    marked: new Uint8Array(count),
    most_bytes: 0,
    kinds: outcome.kinds,
    drops: 0,
    left_out: inside.left_out,
    steps: { time: new Float64Array(0), packets: new Float64Array(0) },
  };
  const seconds = (value: number | null | undefined): number => (value === null || value === undefined ? Infinity : value * NS);
  const seen = new Map<number, number>();
  picked.forEach((place, at) => {
    const flow = packets.flow[place] as number;
    const row = rows.get(flow) as number;
    const size = flows.size_bytes[row] ?? Infinity;
    scene.flow[at] = flow;
    scene.kind[at] = flows.kind[row] ?? 0;
    scene.size[at] = size <= SHORT_BYTES ? 0 : size <= LONG_BYTES ? 1 : 2;
    scene.bytes[at] = packets.bytes[place] ?? 0;
    scene.sent[at] = seconds(packets.sent_ns[place]);
    scene.dropped[at] = seconds(packets.dropped_ns[place]);
    scene.departed[at] = seconds(packets.departed_ns[place]);
    scene.received[at] = seconds(packets.received_ns[place]);
    scene.queued[at] = Math.min(seconds(packets.queued_ns[place]), scene.dropped[at]);
    scene.marked[at] = packets.marked[place] ?? 0;
    const number = packets.number[place] ?? 0;
    const last = seen.get(flow) ?? -1;
    if (packets.ack[place] === 1) scene.again[at] = 0;
    else if (number <= last) scene.again[at] = 1;
    else seen.set(flow, number);
    const dropped = scene.dropped[at];
    if (dropped >= from_s && dropped <= to_s) scene.drops += 1;
  });
  walk(scene);
  return scene;
}

/** When the packet leaves the queue, whichever way. */
export function leaves(scene: Scene, at: number): number {
  return Math.min(scene.departed[at] as number, scene.dropped[at] as number);
}

function walk(scene: Scene): void {
  const events: [number, number, number][] = [];
  for (let at = 0; at < scene.count; at += 1) {
    const out = leaves(scene, at);
    const came = scene.queued[at] as number;
    if (out <= came) continue;
    events.push([came, 1, scene.bytes[at] as number]);
    if (out !== Infinity) events.push([out, -1, scene.bytes[at] as number]);
  }
  events.sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  const time = new Float64Array(events.length);
  const packets = new Float64Array(events.length);
  let bytes = 0;
  let waiting = 0;
  events.forEach(([when, change, length], place) => {
    waiting += change;
    bytes += change * length;
    time[place] = when;
    packets[place] = waiting;
    if (when >= scene.from_s && when <= scene.to_s) scene.most_bytes = Math.max(scene.most_bytes, bytes);
  });
  scene.steps = { time, packets };
}

export interface Moment {
  /** Places of packets, the next to go first. */
  waiting: number[];
  sending: number | null;
  /** How much of it is out, 0 to 1. */
  progress: number;
  victims: number;
  bytes: number;
}

/** What is in the queue and on the link at an instant. */
export function momentOf(scene: Scene, t: number): Moment {
  const waiting: number[] = [];
  let sending: number | null = null;
  let progress = 0;
  let victims = 0;
  let bytes = 0;
  for (let at = 0; at < scene.count; at += 1) {
    const came = scene.queued[at] as number;
    if (came > t) continue;
    const departed = scene.departed[at] as number;
    if (leaves(scene, at) > t) {
      waiting.push(at);
      bytes += scene.bytes[at] as number;
      if (isVictim(scene, at, t)) victims += 1;
    } else if (departed <= t) {
      const needs = ((scene.bytes[at] as number) * 8) / scene.rate_bps;
      if (t < departed + needs) {
        sending = at;
        progress = (t - departed) / needs;
      }
    }
  }
  // In the order in which they go; what is dropped later goes last.
  waiting.sort((a, b) => (scene.departed[a] as number) - (scene.departed[b] as number) || (scene.queued[a] as number) - (scene.queued[b] as number));
  return { waiting, sending, progress, victims, bytes };
}

export function isVictim(scene: Scene, at: number, t: number): boolean {
  return scene.size[at] !== 2 && scene.kinds[scene.kind[at] as number] !== "attacker" && t - (scene.queued[at] as number) > VICTIM_S;
}

/** Packets in the queue at an instant, from the steps. */
export function backlogAt(scene: Scene, t: number): number {
  const { time, packets } = scene.steps;
  let low = 0;
  let high = time.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((time[middle] as number) <= t) low = middle + 1;
    else high = middle;
  }
  return low === 0 ? 0 : (packets[low - 1] as number);
}
