import { describe, expect, it } from "vitest";
import type { Engine } from "../../src/engine/engine";
import type { AsLoaded, Outcome, Recommendation, Request } from "../../src/engine/types";
import { answer } from "../../src/figures/answer";
import { ATTACK_METRIC, both, change, metricsOf, shown, type Metric } from "../../src/figures/metrics";
import { Advice } from "../../src/run/advice";
import { initialState, requestOf } from "../../src/state/state";
import { figuresCsv } from "../../src/take/csv";
import { figuresSvg } from "../../src/take/svg";
import { catalogue, info, outcome } from "./made";

const METRICS = metricsOf(catalogue);
const metric = (id: string): Metric => METRICS.find((entry) => entry.id === id) as Metric;
const [FILM_METRIC, STREAM_METRIC] = [metric("film"), metric("streams")];

describe("what users feel", () => {
  it("has the rows of every workload first, then those that only some have", () => {
    expect(METRICS.map(({ id }) => id)).toEqual(["ping", "short", "pages", "call", "long", "film", "streams", "conferences", "games"]);
    expect(METRICS.filter(({ optional }) => optional).map(({ id }) => id)).toEqual(["film", "streams", "conferences", "games"]);
  });
  it("has a row for a figure that the catalogue lists, at any place in an outcome", () => {
    const measure = { id: "new", title: "New", about: "a new figure", phrase: "the new one", absent: "", part: "new", field: "p50_ms", interval: "p50_ci95", whole: "p50_all_ms", unit: "ms", better: "less" } as const;
    const [row] = metricsOf({ measures: [measure] }).slice(-1) as [Metric];
    const made = outcome("fifo", {});
    const busy = { ...made, figures: { ...made.figures, new: { p50_ms: 250, p50_ci95: [200, 300], p50_all_ms: 100, while_busy: true } } } as Outcome;
    expect([row.value(busy), row.value(made), row.loaded?.(busy), row.whole?.(busy)]).toEqual([0.25, null, true, 0.1]);
    expect(row.detail(busy)).toBe("95 % interval 200 ms to 300 ms");
  });
});

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

describe("what is taken while the link is busy", () => {
  const pinged = (busy_share: number, p95_ms: number, p95_all_ms: number): ReturnType<typeof outcome> => {
    const made = outcome("fifo", { ping: 1, mos: 4 });
    const ping = { probes: 9, idle_ms: 20, mean_ms: 1, p50_ms: 1, p95_ms, p99_ms: 1, loss: 0, grade: "C" as const };
    const all = { p95_ci95: null, while_busy: busy_share > 0, busy_share, mean_all_ms: null, p95_all_ms };
    return { ...made, figures: { ...made.figures, ping: { ...ping, ...all } } };
  };
  const ping = metric("ping");

  it("says for how much of the time that was", () => {
    expect(ping.detail(pinged(0.04, 180, 30))).toContain("the link is busy 4 % of the time, idle 20 ms");
    expect(ping.detail(pinged(0, 30, 30))).toContain("never busy: over the whole time");
    expect(ping.detail(outcome("fifo", { ping: 1 }))).toMatch(/^idle/);
  });
  it("is compared over the same kind of time", () => {
    expect(both(ping, pinged(0.04, 180, 30), pinged(0.1, 40, 25))).toEqual([0.18, 0.04]);
    expect(both(ping, pinged(0.04, 180, 30), pinged(0, 25, 25))).toEqual([0.03, 0.025]);
    expect(both(metric("short"), outcome("a", { short: 1 }), outcome("b", { short: 2 }))).toEqual([1, 2]);
  });
});

describe("streams of UDP", () => {
  it("have a row where there are some", () => {
    const made = outcome("fifo", {});
    const streams = { count: 3, calls: 0, videos: 2, games: 0, loss: 0.01, loss_worst: 0.05, late: 0.01, missing_ci95: null };
    const lossy = { ...made, figures: { ...made.figures, streams: { ...streams, missing: 0.02, missing_worst: 0.05 } } };
    expect([STREAM_METRIC.value(lossy), STREAM_METRIC.value(made)]).toEqual([0.02, null]);
    expect([STREAM_METRIC.detail(lossy), STREAM_METRIC.detail(made)]).toEqual(["3 streams, 5 % in the worst", ""]);
    const conferences = { count: 2, freezes: 1, frozen: 0.03, frozen_worst: 0.05, frozen_ci95: null };
    const games = { count: 1, lag_p50_ms: 40, lag_p95_ms: 190, lag_p95_ci95: null };
    const both = { ...made, figures: { ...made.figures, conferences, games } };
    expect(["conferences", "games"].map((id) => metric(id).value(both))).toEqual([0.03, 0.19]);
    expect(["conferences", "games"].map((id) => metric(id).detail(both))).toEqual(["2 videos, 1 freeze", "1 game"]);
    expect(metric("games").detail(made)).toBe("");
  });
});

describe("transfers that never end", () => {
  const some = (p95_s: number | null): ReturnType<typeof outcome> => {
    const made = outcome("fifo", {});
    const pages = { pages: 31, series: 0, unfinished: 9, p50_s: 1, p95_s, p99_s: null, p50_ci95: null, p95_ci95: null };
    return { ...made, figures: { ...made.figures, pages } };
  };
  const pages = metric("pages");

  it("are said, and are worse than any time", () => {
    expect([pages.value(some(null)), pages.value(some(2)), pages.value(outcome("fifo", {}))]).toEqual([Infinity, 2, null]);
    expect(shown(pages, Infinity)).toBe("never");
    expect(change(pages, Infinity, 2)).toMatchObject({ verdict: "better", text: "it ends" });
    expect(change(pages, 2, Infinity)).toMatchObject({ verdict: "worse" });
    expect(change(pages, Infinity, Infinity)).toBeNull();
    expect(figuresCsv([{ label: "fifo", outcome: some(null) }], METRICS)).toContain("fifo,pages,inf,s");
    expect(figuresSvg([{ label: "fifo", outcome: some(null) }], "x", METRICS)).toContain("never");
  });
});

describe("the answer", () => {
  const fifo = { label: "fifo", outcome: outcome("fifo", { ping: 0.195, short: 0.232, pages: 2.5, mos: 4, long: 6 }) };
  const lfq = { label: "lfq", outcome: outcome("lfq", { ping: 0.013, short: 0.12, pages: 1.7, mos: 4.4, long: 4.8 }) };
  const words = { sentence: "Use lfq: it is better.", doubt: "One run.", gives: [], costs: [], load: null, shapes: null };
  const told: Recommendation = { kind: "use", discipline: "lfq", equal: [], to_load: [], to_resample: null, at_the_link: "", runs_on: ["module"], ...words };

  it("is the sentence of the engine, and its doubt", () => {
    expect(answer([fifo, lfq], told, METRICS)).toBe("Use lfq: it is better. One run.");
    expect(answer([fifo, lfq], { ...told, doubt: "" }, METRICS)).toBe("Use lfq: it is better.");
  });
  it("says of what its figures are where there is a command", () => {
    const said = answer([fifo, lfq], { ...told, load: "mayfly qdisc load eth0" }, METRICS);
    expect(said).toBe("Use lfq: it is better. Figures are of the discipline at the link itself. In a router behind a modem the command gives less: mayfly whatif says how much. One run.");
  });
  it("waits for the engine", () => expect(answer([fifo, lfq], undefined, METRICS)).toBe(""));
  it("says where the rule has nothing to say", () => expect(answer([fifo, lfq], null, METRICS)).toContain("two disciplines that can be switched on"));
  it("of one column is its figures", () => expect(answer([fifo], undefined, METRICS)).toContain("ping under load 195 ms"));
  it("of nothing is nothing", () => expect(answer([], undefined, METRICS)).toBe(""));

  it("is asked once of the same runs, and again of others", async () => {
    const asked: string[][] = [];
    const engine = {
      advise(outcomes: readonly Outcome[]): Promise<Recommendation | null> {
        asked.push(outcomes.map(({ discipline }) => discipline.label));
        return Promise.resolve(told);
      },
    } as unknown as Engine;
    let changes = 0;
    const advice = new Advice(engine, () => (changes += 1));
    expect(advice.of([fifo.outcome], null)).toBeUndefined();
    expect(advice.of([fifo.outcome, lfq.outcome], null)).toBeUndefined();
    await Promise.resolve();
    await Promise.resolve();
    expect([advice.of([fifo.outcome, lfq.outcome], null), changes]).toEqual([told, 1]);
    advice.of([lfq.outcome, fifo.outcome], null);
    expect(asked).toEqual([["fifo", "lfq"], ["lfq", "fifo"]]);
  });

  it("is of what the command gives where the engine names what to load", async () => {
    const shapes = { down: { rate_bps: 9.5e6, buffer: [300, "packets"] }, up: { rate_bps: 1.9e6, buffer: [50, "packets"] } };
    const first = { ...told, to_load: ["lfq", "gone"], shapes } as unknown as Recommendation;
    const second = { ...first, sentence: "Use lfq. With this command: less.", at_the_link: "There more." };
    const ran: Request[] = [];
    const engine = {
      advise: (outcomes: readonly Outcome[]) => Promise.resolve(outcomes.length > 2 ? second : first),
      run: (request: Request) => {
        ran.push(request);
        return Promise.resolve(lfq.outcome);
      },
    } as unknown as Engine;
    const state = initialState();
    const advice = new Advice(engine, () => undefined);
    const loading = (label: string, where: AsLoaded): Request | null => (label === "lfq" ? { ...requestOf(state, info(), 0, null), as_loaded: where } : null);
    advice.of([fifo.outcome, lfq.outcome], loading);
    await new Promise((resolve) => setTimeout(resolve, 0));
    const found = advice.of([fifo.outcome, lfq.outcome], loading);
    expect([found, advice.busy, ran.length]).toEqual([second, false, 1]);
    expect(ran[0]?.as_loaded).toMatchObject({ down_bps: 9.5e6, up_bps: 1.9e6 });
    expect(answer([fifo, lfq], found, METRICS)).toBe("Use lfq. With this command: less. There more. One run.");
  });
});

describe("figures to take along", () => {
  const columns = [{ label: 'lfq(user="dst",debt=1)', outcome: outcome("lfq", { ping: 0.013, short: 0.12 }) }];
  it("CSV has quotes where RFC 4180 wants them", () => expect(figuresCsv(columns, METRICS).split("\r\n")[1]).toBe('"lfq(user=""dst"",debt=1)",ping,0.013,s'));
  it("SVG has nothing of a label as markup", () => {
    const drawn = figuresSvg([{ label: "<script>alert(1)</script>", outcome: outcome("x", { ping: 1 }) }], "a & b", METRICS);
    expect(drawn).not.toContain("<script");
    expect(drawn).toContain("a &amp; b");
  });
});
