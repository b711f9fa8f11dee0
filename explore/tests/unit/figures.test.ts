import { describe, expect, it } from "vitest";
import { answer } from "../../src/figures/answer";
import { ATTACK_METRIC, change, FILM_METRIC, METRICS, shown, type Metric } from "../../src/figures/metrics";
import { figuresCsv } from "../../src/take/csv";
import { figuresSvg } from "../../src/take/svg";
import { outcome } from "./made";

const metric = (id: string): Metric => METRICS.find((entry) => entry.id === id) as Metric;

describe("a change", () => {
  it("has sign and word", () => {
    expect(change(metric("ping"), 0.2, 0.02)).toMatchObject({ verdict: "better", text: "−90 %" });
    expect(change(metric("ping"), 0.02, 0.03)).toMatchObject({ verdict: "worse", text: "+50 %" });
    expect(change(metric("ping"), 0.02, 0.4)).toMatchObject({ verdict: "worse", text: "× 20" });
    expect(change(metric("ping"), 1, 1.02)).toMatchObject({ verdict: "same" });
  });
  it("of a call is one of points, and more is better", () => {
    expect(change(metric("call"), 4.0, 4.4)).toMatchObject({ verdict: "better", text: "+0.4" });
    expect(change(metric("call"), 4.4, 3.1)).toMatchObject({ verdict: "worse", text: "−1.3" });
    expect(change(metric("call"), 4.41, 4.43)).toMatchObject({ verdict: "same" });
  });
  it("of a share is one of percentage points, from 0 too", () => {
    expect(change(FILM_METRIC, 0, 0.123)).toMatchObject({ verdict: "worse", text: "+12.3 points" });
    expect(change(FILM_METRIC, 0.2, 0.1)).toMatchObject({ verdict: "better", text: "−10 points" });
    expect(change(FILM_METRIC, 0, 0)).toMatchObject({ verdict: "same" });
  });
  it("of what the attacker gets is better when it is less", () => expect(change(ATTACK_METRIC, 3.9, 1)).toMatchObject({ verdict: "better" }));
});

describe("transfers that never end", () => {
  const some = (p95_s: number | null): ReturnType<typeof outcome> => {
    const made = outcome("fifo", {});
    return { ...made, figures: { ...made.figures, pages: { pages: 31, unfinished: 9, p50_s: 1, p95_s, p99_s: null } } };
  };
  const pages = metric("pages");

  it("are said, and are worse than any time", () => {
    expect([pages.value(some(null)), pages.value(some(2)), pages.value(outcome("fifo", {}))]).toEqual([Infinity, 2, null]);
    expect(shown(pages, Infinity)).toBe("never");
    expect(change(pages, Infinity, 2)).toMatchObject({ verdict: "better", text: "it ends" });
    expect(change(pages, 2, Infinity)).toMatchObject({ verdict: "worse" });
    expect(change(pages, Infinity, Infinity)).toBeNull();
    expect(answer([{ label: "fifo", outcome: some(null) }, { label: "lfq", outcome: some(2) }]).text).toBe("Lfq is better for most: web pages 2 s instead of never (it ends); nothing here gets worse.");
    expect(figuresCsv([{ label: "fifo", outcome: some(null) }])).toContain("fifo,pages,inf,s");
    expect(figuresSvg([{ label: "fifo", outcome: some(null) }], "x")).toContain("never");
  });
});

describe("the answer", () => {
  const fifo = { label: "fifo", outcome: outcome("fifo", { ping: 0.195, short: 0.232, pages: 2.5, mos: 4, long: 6 }) };
  const lfq = { label: "lfq", outcome: outcome("lfq", { ping: 0.013, short: 0.12, pages: 1.7, mos: 4.4, long: 4.8 }) };
  const same = { label: "pie", outcome: outcome("pie", { ping: 0.196, short: 0.233, pages: 2.5, mos: 4, long: 6 }) };

  it("says for whom, by how much, and the price", () => {
    expect(answer([fifo, lfq]).text).toBe(
      "Lfq is better for most: ping under load 13 ms instead of 195 ms (−93 %), short transfers 120 ms instead of 232 ms (−48 %) and the call 4.4 instead of 4.0 (+0.4); the price: long transfers 4.8 Mbit/s instead of 6 Mbit/s (−20 %).",
    );
  });
  it("picks the best of several", () => expect(answer([fifo, same, lfq])).toMatchObject({ best: 2, text: expect.stringMatching(/^Of these, lfq/) as string }));
  it("says who pays where most get worse", () => expect(answer([lfq, fifo]).text).toMatch(/^Fifo helps some and costs others more: long transfers 6 Mbit\/s instead of 4.8 Mbit\/s \(\+25 %\); the price: ping/));
  it("keeps the first where nothing gets better", () => {
    const worse = { label: "fifo", outcome: outcome("fifo", { ping: 0.195, short: 0.232, pages: 2.5, mos: 4, long: 4.8 }) };
    expect(answer([lfq, worse]).text).toMatch(/^Keep lfq: with fifo nothing here gets better/);
  });
  it("says that nothing changes, and why", () => {
    const idle = { label: "fifo", outcome: outcome("fifo", { ping: 0.02, short: 0.1, delay: 0 }) };
    expect(answer([idle, { ...idle, label: "lfq" }]).text).toContain("without a queue no discipline matters");
    expect(answer([fifo, same]).text).toContain("is alike");
  });
  it("of one column tells its figures", () => expect(answer([fifo]).text).toContain("ping under load 195 ms"));
  it("of nothing is nothing", () => expect(answer([]).text).toBe(""));
  it("has no figures to compare where there are none", () => {
    const none = { label: "fifo", outcome: outcome("fifo", {}) };
    expect(answer([none, { ...none, label: "lfq" }]).text).toContain("no transfers of these kinds");
  });
});

describe("figures to take along", () => {
  const columns = [{ label: 'lfq(user="dst",debt=1)', outcome: outcome("lfq", { ping: 0.013, short: 0.12 }) }];
  it("CSV has quotes where RFC 4180 wants them", () => expect(figuresCsv(columns).split("\r\n")[1]).toBe('"lfq(user=""dst"",debt=1)",ping,0.013,s'));
  it("SVG has nothing of a label as markup", () => {
    const drawn = figuresSvg([{ label: "<script>alert(1)</script>", outcome: outcome("x", { ping: 1 }) }], "a & b");
    expect(drawn).not.toContain("<script");
    expect(drawn).toContain("a &amp; b");
  });
});
