import { describe, expect, it } from "vitest";
import { fromAddress, toAddress } from "../../src/state/address";
import { initialState, requestOf, type State } from "../../src/state/state";
import { catalogue, info } from "./made";

function there(state: State): State {
  const { state: back, problems } = fromAddress(`#${toAddress(state)}`, catalogue);
  expect(problems).toEqual([]);
  return back;
}

describe("the address", () => {
  it("of a fresh page comes back", () => expect(there(initialState())).toEqual(initialState()));

  it("holds the whole state", () => {
    const state: State = {
      workload: "attack",
      kind: "preset",
      internal: null,
      link: { rate_bps: 10e6, reverse_rate_bps: 2.5e6, limit: { ms: 20 }, rtt_s: 0.0355 },
      columns: [
        { id: "fifo", options: {} },
        { id: "lfq", options: { debt: "1500", user: "dst" } },
        { id: "cake", options: {} },
      ],
      seed: 7,
      attack: { kind: "split", rate_bps: 5e6, connections: 16 },
      tab: "waits",
      inside: { from_s: 3.2, length_s: 0.5, at_s: 3.456789, up: true },
      life: { column: 1, flow: 42 },
    };
    expect(there(state)).toEqual(state);
  });

  it("names a capture and never holds one", () => {
    const state: State = { ...initialState(), kind: "capture", workload: "böse & co #1.pcap", internal: ["10.0.0.0/8", "192.168.0.0/16"] };
    expect(there(state)).toEqual(state);
  });

  it("can be read", () => {
    const state = initialState();
    state.link = { rate_bps: 10e6, reverse_rate_bps: null, limit: { packets: 300 }, rtt_s: 0.02 };
    state.columns = [{ id: "fifo", options: {} }, { id: "lfq", options: { debt: "1" } }];
    expect(toAddress(state)).toBe("workload=office&rate=10mbit&buffer=300&rtt=20ms&d=fifo&d=lfq(debt%3D1)");
  });

  it.each([
    ["#rate=fast", "rate="],
    ["#workload=nowhere", "no workload"],
    ["#d=fifo&d=nonsense", "no discipline"],
    ["#d=lfq(nonsense=1)", "no discipline"],
    ["#attack=bomb,1mbit,2", "spaced,5mbit,8"],
    ["#buffer=-1", "buffer="],
    ["#life=9,1", "life="],
    ["#seed=1.5", "seed="],
  ])("%s leaves a sentence and the rest as it was", (hash, sentence) => {
    const { state, problems } = fromAddress(hash, catalogue);
    expect(problems.join(" ")).toContain(sentence);
    expect(state.columns.length).toBeGreaterThan(0);
  });

  it("of any text gives a state", () => {
    let seed = 1;
    const next = (below: number): number => {
      seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
      return seed % below;
    };
    const words = ["workload", "capture", "rate", "up", "buffer", "rtt", "d", "seed", "attack", "show", "from", "for", "at", "life", "way", "=", "&", "%", "%zz", "1e9", "fifo", "lfq(", ")", ",", "\u0000", "-1", "queue"];
    for (let round = 0; round < 3000; round += 1) {
      const hash = Array.from({ length: next(12) }, () => words[next(words.length)]).join("");
      const { state } = fromAddress(`#${hash}`, catalogue);
      expect(fromAddress(`#${toAddress(state)}`, catalogue).state).toEqual(state);
    }
  });
});

describe("a request", () => {
  it("has the link of the workload until something is set", () => {
    expect(requestOf(initialState(), info(), 0, null).link).toEqual({ rate_bps: 20e6, reverse_rate_bps: 10e6, buffer: { packets: 300 }, reverse_buffer: null, rtt_s: null });
  });

  it("counts a buffer in time at the rate of each way", () => {
    const state = initialState();
    state.link.limit = { ms: 20 };
    const { link } = requestOf(state, info(), 1, null);
    expect([link.buffer, link.reverse_buffer]).toEqual([{ bytes: 50_000 }, { bytes: 25_000 }]);
  });

  it("keeps the buffer of the way up until a buffer is set", () => {
    const own = info();
    own.link.reverse_buffer = { packets: 50 };
    const state = initialState();
    expect(requestOf(state, own, 0, null).link.reverse_buffer).toEqual({ packets: 50 });
    state.link.limit = { packets: 100 };
    expect(requestOf(state, own, 0, null).link.reverse_buffer).toBeNull();
  });
});
