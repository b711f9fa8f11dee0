import { describe, expect, it } from "vitest";
import { bufferOf, bytesShown, duration, limitText, parseLimit, parseRate, parseRtt, percent, plainOption, rateShown, rateText, rttText, three } from "../../src/state/units";

describe("rates", () => {
  it.each([
    ["10mbit", 10e6],
    ["2.5 Mbit/s", 2.5e6],
    ["1G", 1e9],
    ["512k", 512e3],
    ["10Mbps", 10e6],
    ["10Mb/s", 10e6],
    ["64000", 64e3],
  ])("%s is read as the command line reads it", (text, value) => expect(parseRate(text)).toEqual({ value }));

  it.each(["", "fast", "10 apples", "-1mbit", "1bit", "500gbit", "NaN", "1e999", "10mb"])("%s is refused with a sentence", (text) => {
    expect(parseRate(text)).toHaveProperty("problem");
  });

  it("a capital B stands for bytes, and the sentence says what to write", () => {
    expect(parseRate("2MB/s")).toEqual({ problem: expect.stringContaining("16mbit") as string });
  });

  it.each([10e6, 2.5e6, 1e9, 64e3, 12_345_678, 999, 1_234_567_891, 123_457])("%d comes back from its text", (bps) => {
    if (bps >= 1000) expect(parseRate(rateText(bps))).toEqual({ value: bps });
  });
});

describe("times and buffers", () => {
  it.each([
    ["20ms", 0.02],
    ["20", 0.02],
    ["0.2s", 0.2],
    ["200us", 2e-4],
    ["200µs", 2e-4],
  ])("%s", (text, value) => expect(parseRtt(text)).toEqual({ value }));

  it.each(["", "20 apples", "0ms", "11s", "-3ms"])("a round trip of %s is refused", (text) => expect(parseRtt(text)).toHaveProperty("problem"));

  it.each([
    ["300", { packets: 300 }],
    ["300 packets", { packets: 300 }],
    ["1p", { packets: 1 }],
    ["450kB", { bytes: 450_000 }],
    ["1MiB", { bytes: 1_048_576 }],
    ["20ms", { ms: 20 }],
    ["0.2s", { ms: 200 }],
  ])("a buffer of %s", (text, value) => {
    expect(parseLimit(text)).toEqual({ value });
    expect(parseLimit(limitText(value))).toEqual({ value });
  });

  it.each(["", "1.5", "0", "0 packets", "-3", "3 apples", "99999999", "0ms"])("a buffer of %s is refused", (text) => expect(parseLimit(text)).toHaveProperty("problem"));

  it("a time is what the link sends in it, as in mayfly.text.quantity.buffer", () => expect(bufferOf({ ms: 20 }, 10e6)).toEqual({ bytes: 25_000 }));

  it.each([0.02, 2e-4, 1, 0.0355])("%d s comes back from its text", (seconds) => expect(parseRtt(rttText(seconds))).toEqual({ value: seconds }));
});

it("options of disciplines are numbers for the engine, and words stay", () => {
  expect(["10ms", "15kB", "2mbit", "0.4", "dst", "1:2:3", "5 apples"].map(plainOption)).toEqual(["0.01", "15000", "2000000", "0.4", "dst", "1:2:3", "5 apples"]);
});

describe("what is shown", () => {
  it("has three digits and a unit", () => {
    expect([duration(0.0133), duration(2.5234), duration(0.9996), duration(150), duration(0)]).toEqual(["13.3 ms", "2.52 s", "1 s", "2.5 min", "0 ms"]);
    expect([rateShown(10e6), rateShown(512e3), rateShown(2.5e9)]).toEqual(["10 Mbit/s", "512 kbit/s", "2.5 Gbit/s"]);
    expect([bytesShown(900), bytesShown(212_345), bytesShown(3e6), bytesShown(2e9)]).toEqual(["900 B", "212 kB", "3 MB", "2 GB"]);
    expect([three(0.000123), three(1234), three(100), three(1e-9)]).toEqual(["0.000123", "1,234", "100", "1e-9"]);
    expect([percent(0), percent(1), percent(0.634), percent(0.0019)]).toEqual(["0 %", "100 %", "63 %", "0.19 %"]);
  });
});
