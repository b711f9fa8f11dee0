/** One transfer, packet by packet: its sequence, what was under way, what was lost. Times in seconds. */

import type { Inside } from "../engine/types";

export interface Dot {
  time: number;
  number: number;
}

export interface Life {
  sent: Dot[];
  again: Dot[];
  received: Dot[];
  dropped: Dot[];
  timeouts: number[];
  /** After each of `time`, so many packets sent and neither received nor lost. */
  under_way: { time: number[]; packets: number[] };
  most_under_way: number;
  packets: number;
  /** Longest wait in the queue. */
  longest_wait: number;
}

const NS = 1e-9;

/** Whether the data of a flow mostly comes from its receiver, as the answers of a connection do: 1, else 0. */
function mostly({ packets }: Inside, flow: number): number {
  let balance = 0;
  packets.flow.forEach((owner, place) => {
    if (owner === flow) balance += (packets.back[place] === 1 ? 1 : -1) * (packets.bytes[place] ?? 0);
  });
  return balance > 0 ? 1 : 0;
}

export function lifeOf(inside: Inside, flow: number): Life {
  const { packets } = inside;
  const life: Life = { sent: [], again: [], received: [], dropped: [], timeouts: [], under_way: { time: [], packets: [] }, most_under_way: 0, packets: 0, longest_wait: 0 };
  const changes: [number, number][] = [];
  const seen = new Set<number>();
  const back = mostly(inside, flow);
  packets.flow.forEach((owner, place) => {
    if (owner !== flow || packets.back[place] !== back || packets.ack[place] === 1) return;
    const number = packets.number[place] ?? 0;
    const sent = (packets.sent_ns[place] ?? 0) * NS;
    const received = packets.received_ns[place];
    const dropped = packets.dropped_ns[place];
    const queued = packets.queued_ns[place];
    const departed = packets.departed_ns[place];
    life.packets += 1;
    (seen.has(number) ? life.again : life.sent).push({ time: sent, number });
    seen.add(number);
    changes.push([sent, 1]);
    if (received !== null && received !== undefined) {
      life.received.push({ time: received * NS, number });
      changes.push([received * NS, -1]);
    } else if (dropped !== null && dropped !== undefined) {
      life.dropped.push({ time: dropped * NS, number });
      changes.push([dropped * NS, -1]);
    }
    if (typeof queued === "number" && typeof departed === "number") life.longest_wait = Math.max(life.longest_wait, (departed - queued) * NS);
  });
  inside.timeouts.flow.forEach((owner, place) => {
    if (owner === flow) life.timeouts.push((inside.timeouts.time_ns[place] ?? 0) * NS);
  });
  changes.sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  let under = 0;
  for (const [time, change] of changes) {
    under += change;
    life.under_way.time.push(time);
    life.under_way.packets.push(under);
    life.most_under_way = Math.max(life.most_under_way, under);
  }
  return life;
}
