import { describe, expect, it } from "vitest";
import { lifeOf } from "../../src/inside/life";
import { backlogAt, momentOf, sceneOf } from "../../src/inside/scene";
import type { Inside } from "../../src/engine/types";
import { aligned } from "../../src/inside/aligned";
import { outcome } from "./made";

const MS = 1e6;

/** Three packets of a long transfer (flow 0), one of a short one (1), one that goes up (2). 1500 bytes take 12 ms at 1 Mbit/s. */
const inside: Inside = {
  from_s: 0,
  to_s: 1,
  flows: { id: [0, 1, 2], kind: [1, 0, 0], size_bytes: [5e6, 3e3, 3e3], up: [0, 0, 1] },
  packets: {
    flow: [0, 0, 0, 1, 2, 0],
    number: [1, 2, 3, 1, 1, 3],
    bytes: [1500, 1500, 1500, 1500, 1500, 1500],
    sent_ns: [0, 0, 0, 0, 0, 60 * MS],
    queued_ns: [1 * MS, 2 * MS, 3 * MS, 4 * MS, 1 * MS, 61 * MS],
    departed_ns: [1 * MS, 13 * MS, null, 70 * MS, 1 * MS, 90 * MS],
    received_ns: [14 * MS, 26 * MS, null, 83 * MS, 14 * MS, 103 * MS],
    dropped_ns: [null, null, 3 * MS, null, null, null],
    back: [0, 0, 0, 0, 0, 0],
    ack: [0, 0, 0, 0, 0, 0],
    marked: [0, 0, 0, 0, 0, 0],
  },
  timeouts: { flow: [0, 1], time_ns: [59 * MS, 1] },
  left_out: 0,
};
const run = { ...outcome("fifo", {}), kinds: ["short", "long"], inside };

describe("a scene", () => {
  const scene = sceneOf(run, 0, 0.1, 1e6, false);
  if (scene === null) throw new Error("no scene");

  it("has the packets of one way", () => {
    expect(scene.count).toBe(5);
    expect(sceneOf(run, 0, 0.1, 1e6, true)?.count).toBe(1);
    expect(sceneOf({ ...run, inside: null }, 0, 1, 1e6, false)).toBeNull();
    // The answer of the flow that goes up comes down.
    const answering = { ...inside, packets: { ...inside.packets, back: [0, 0, 0, 0, 1, 0] } };
    expect(sceneOf({ ...run, inside: answering }, 0, 0.1, 1e6, false)?.count).toBe(6);
  });

  it("knows who waits, what is sent, and who is a victim", () => {
    const early = momentOf(scene, 0.005);
    expect(early.waiting.map((at) => scene.flow[at])).toEqual([0, 1]);
    expect([early.sending, early.victims, early.bytes]).toEqual([0, 0, 3000]);
    expect(early.progress).toBeCloseTo(4 / 12, 6);
    expect(momentOf(scene, 0.06).victims).toBe(1);
    expect(momentOf(scene, 0.2).waiting).toEqual([]);
  });

  it("counts what waits at every instant, and never a packet that was dropped as it came", () => {
    expect([0.0005, 0.0015, 0.0025, 0.0045, 0.02, 0.065, 0.08, 0.1].map((t) => backlogAt(scene, t))).toEqual([0, 0, 1, 2, 1, 2, 1, 0]);
    expect([scene.drops, scene.most_bytes]).toEqual([1, 3000]);
  });

  it("marks what is sent again", () => expect([...scene.again]).toEqual([0, 0, 0, 0, 1]));
});

describe("a life", () => {
  it("has what was sent, lost, sent again, and under way", () => {
    const life = lifeOf(inside, 0);
    expect([life.packets, life.sent.length, life.again.length, life.received.length, life.dropped.length]).toEqual([4, 3, 1, 3, 1]);
    expect(life.most_under_way).toBe(3);
    expect(life.under_way.packets.at(-1)).toBe(0);
    expect(life.timeouts[0]).toBeCloseTo(0.059, 9);
    expect(life.longest_wait).toBeCloseTo(0.029, 9);
  });
  it("of a connection that answers is that of its answers, without acknowledgements", () => {
    const { packets } = inside;
    const answered = { ...inside, packets: { ...packets, back: [0, 1, 1, 0, 0, 1], ack: [0, 0, 0, 0, 0, 1] } };
    const life = lifeOf(answered, 0);
    expect([life.packets, life.sent.map(({ number }) => number), life.again]).toEqual([2, [2, 3], []]);
  });
  it("of a flow without packets is empty", () => expect(lifeOf(inside, 99).packets).toBe(0));
});

describe("queues over time", () => {
  const sampled = (time_s: number[], packets: number[]): typeof run => ({ ...run, queue: { time_s, packets, bytes: packets.map((n) => n * 1500) } });
  it("share one axis, also where one run ends before the other", () => {
    expect(aligned([sampled([0, 1, 2], [1, 2, 3]), sampled([0, 1], [5, 6])], false)).toEqual([[0, 1, 2], [1, 2, 3], [5, 6, null]]);
  });
  it("are nothing without samples", () => expect(aligned([null, sampled([], [])], false)).toBeNull());
});
