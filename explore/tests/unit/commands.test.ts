import { describe, expect, it } from "vitest";
import { initialState, type State } from "../../src/state/state";
import { fill, shellWord, takeAlong } from "../../src/take/commands";
import { catalogue, info } from "./made";

function text(state: State, id: string, own = info()): string {
  return takeAlong(state, own, catalogue, []).find((line) => line.id === id)?.text ?? "";
}

describe("lines to take along", () => {
  it("a preset is compared", () => {
    const state = initialState();
    state.link = { rate_bps: 10e6, reverse_rate_bps: null, limit: { packets: 300 }, rtt_s: 0.03 };
    expect(text(state, "command")).toBe(
      "mayfly compare office --disciplines 'fifo,lfq' --set network.rate=10mbit --set network.reverse_rate=10mbit --set network.buffer=300 --set network.delay=13ms",
    );
  });

  it("an attack joins it", () => {
    const state: State = { ...initialState(), workload: "attack", attack: { kind: "spaced", rate_bps: 5e6, connections: 8 } };
    expect(text(state, "command", info({ name: "attack" }))).toContain(` --set 'workload.cbr=[{rate = "5mbit", users = 1, group = "attacker"}]'`);
    expect(text(state, "scenario", info({ name: "attack" }))).toContain('[[workload.cbr]]\nrate = "5mbit"');
  });

  it("a capture is replayed, its name in quotes where a shell needs them", () => {
    const state: State = { ...initialState(), kind: "capture", workload: "my office.pcap", internal: ["10.0.0.0/8"] };
    state.columns[1] = { id: "lfq", options: { debt: "1" } };
    const own = info({ name: "my office.pcap", kind: "capture" });
    expect(text(state, "command", own)).toBe("mayfly whatif 'my office.pcap' --rate 20mbit/10mbit --buffer 300 --disciplines 'fifo,lfq(debt=1)' --internal 10.0.0.0/8");
    expect(text(state, "python", own)).toContain('mayfly.whatif("my office.pcap", "20mbit/10mbit", 300, disciplines="fifo,lfq(debt=1)")');
    state.link = { rate_bps: 10e6, reverse_rate_bps: null, limit: { packets: 300 }, rtt_s: 0.04 };
    expect(text(state, "command", own)).toContain(" --rtt 40ms");
    expect(text(state, "python", own)).toContain('300, rtt="40ms", disciplines=');
  });

  it("a scenario file has every brace filled in", () => {
    for (const { name } of catalogue.presets) {
      const state: State = { ...initialState(), workload: name };
      const file = text(state, "scenario", info({ name }));
      expect(file).toContain('rate = "20mbit"');
      expect(file).toContain("buffer = 300");
      expect(file).toContain('disciplines = ["fifo", "lfq"]');
      expect(file).not.toMatch(/"\{[a-z_]+\}"/);
    }
  });

  it("a discipline is switched on by the command that came with its run", () => {
    const state = initialState();
    state.columns = [{ id: "fq_codel", options: {} }, { id: "srpt", options: {} }, { id: "lfq", options: { debt: "1" } }];
    const load = "mayfly qdisc load eth0 --both-ways --down 19mbit --up 9500kbit --discipline fq_codel --buffer 300";
    const switches = takeAlong(state, info(), catalogue, [load, null]).filter(({ id }) => id.startsWith("switch"));
    expect(switches.map((line) => line.text)).toEqual([load, "", ""]);
    expect(switches.map((line) => line.title)).toEqual(["Switch on fq_codel", "Switch on srpt", "Switch on lfq(debt=1)"]);
    expect(switches[0]?.note).toContain("both directions");
    expect(switches[1]?.note).toContain("No command of Mayfly switches it on");
    expect(switches[2]?.note).toBe("Its run is not over.");
  });

  it("a limit in time is one in bytes there", () => {
    const state = initialState();
    state.link.limit = { ms: 20 };
    expect(text(state, "command")).toContain("--set network.buffer=50kB --set network.delay=8ms --set network.reverse_buffer=25kB");
  });

  it("no state leaves a brace of a template", () => {
    for (const limit of [null, { packets: 7 }, { bytes: 15_000 }, { ms: 3 }]) {
      for (const kind of ["preset", "capture"] as const) {
        for (const row of catalogue.disciplines) {
          const state: State = { ...initialState(), kind, columns: [{ id: row.id, options: {} }] };
          state.link.limit = limit;
          for (const line of takeAlong(state, info({ kind }), catalogue, [])) expect(line.text).not.toMatch(/\{(rate|limit|bytes|below|buffer|delay|reverse_rate|discipline|disciplines)\}/);
        }
      }
    }
  });

  it("a template that wants more than the page has is told", () => expect(() => fill("mayfly {nonsense}", {})).toThrow("nonsense"));

  it("no name of a capture leaves its quotes", () => {
    expect(shellWord("a'; rm -rf ~ #.pcap")).toBe("'a'\\''; rm -rf ~ #.pcap'");
    expect(shellWord("office.pcap.gz")).toBe("office.pcap.gz");
  });
});
