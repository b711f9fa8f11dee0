/** What holds the page together: the state, the runs that it wants, and the views that show both. */

import { chooseEngine } from "./engine/choose";
import { EngineError, type Engine } from "./engine/engine";
import type { Catalogue, Info, Span } from "./engine/types";
import { answer } from "./figures/answer";
import { metricsOf, type Metric } from "./figures/metrics";
import { Advice, type Loading } from "./run/advice";
import { emptySlot, isOld, Runner, type Slot } from "./run/runner";
import { fromAddress, toAddress } from "./state/address";
import { printable } from "./state/names";
import { labelOf, requestOf, type State } from "./state/state";
import { layOut, type Page } from "./view/page";
import { applyTheme, onSystemTheme, themeChoice } from "./view/theme";

/** The largest capture that is read, in a browser or sent to the server. */
export const MOST_CAPTURE_BYTES = 512 * 2 ** 20;

export class App {
  readonly catalogue: Catalogue;
  /** What users feel, in the order of rows. */
  readonly metrics: Metric[];
  readonly engine: Engine;
  state: State;
  info: Info | null = null;
  /** Why there is no workload, a sentence; null while all is well. */
  trouble: string | null = null;
  loading = false;
  problems: string[];
  /** Figures, one slot for each column. */
  slots: Slot[] = [];
  /** Packets, for the animation. */
  insides: Slot[] = [];
  lifeSlot: Slot = emptySlot();
  private readonly runner: Runner;
  private readonly advice: Advice;
  private page: Page | null = null;
  private frame = 0;
  private written = "";
  private writing: ReturnType<typeof setTimeout> | null = null;
  private loads = 0;

  constructor(catalogue: Catalogue, engine: Engine, state: State, problems: string[]) {
    this.catalogue = catalogue;
    this.metrics = metricsOf(catalogue);
    this.engine = engine;
    this.state = state;
    this.problems = problems;
    this.runner = new Runner(engine, () => this.render());
    this.advice = new Advice(engine, () => this.render());
  }

  show(root: HTMLElement): void {
    this.page = layOut(this, root);
    window.addEventListener("hashchange", () => this.readAddress());
    onSystemTheme(() => {
      applyTheme(themeChoice());
      this.redraw();
    });
    this.render();
    void this.loadWorkload();
  }

  /** Every change of the state goes through here. */
  change(alter: (state: State) => void): void {
    alter(this.state);
    this.wish();
    this.writeAddress();
    this.render();
  }

  /** Views draw anew, with other colours. */
  redraw(): void {
    this.page?.redraw();
    this.render();
  }

  render(): void {
    if (this.frame !== 0) return;
    this.frame = requestAnimationFrame(() => {
      this.frame = 0;
      this.wish();
      this.page?.update();
    });
  }

  /** A preset, with the link that it comes with. */
  choosePreset(name: string): void {
    this.state.link = { rate_bps: null, reverse_rate_bps: null, limit: null, rtt_s: null };
    this.state.workload = name;
    this.state.kind = "preset";
    this.state.internal = null;
    if (this.catalogue.presets.find((preset) => preset.name === name)?.attacks !== true) this.state.attack = null;
    this.state.inside = { ...this.state.inside, from_s: null, at_s: null };
    this.state.life = null;
    this.writeAddress();
    void this.loadWorkload();
  }

  /** A file that was dropped or chosen. */
  async chooseFile(file: File): Promise<void> {
    const name = printable(file.name);
    if (file.size > MOST_CAPTURE_BYTES) {
      this.trouble = `${name} has ${Math.round(file.size / 1e6)} MB: a capture may have at most ${Math.round(MOST_CAPTURE_BYTES / 1e6)}. Cut it: editcap -r ${name} part.pcap 1-1000000.`;
      this.render();
      return;
    }
    if (file.size === 0) {
      this.trouble = `${name} is empty: there is no packet in it.`;
      this.render();
      return;
    }
    let bytes: ArrayBuffer;
    try {
      bytes = await file.arrayBuffer();
    } catch {
      this.trouble = `${name} could not be read: a folder, or a file that is gone.`;
      this.render();
      return;
    }
    await this.openCapture(name, bytes, this.state.kind === "capture" ? this.state.internal : null);
  }

  async openCapture(name: string, bytes: ArrayBuffer | null, internal: string[] | null): Promise<void> {
    const ours = ++this.loads;
    this.loading = true;
    this.trouble = null;
    this.render();
    try {
      const info = await this.engine.open(name, bytes, internal);
      if (ours !== this.loads) return;
      const again = this.state.kind === "capture" && this.state.workload === name;
      this.state.kind = "capture";
      this.state.workload = name;
      this.state.internal = internal;
      this.state.attack = null;
      if (!again) {
        this.state.link = { rate_bps: null, reverse_rate_bps: null, limit: null, rtt_s: null };
        this.state.inside = { ...this.state.inside, from_s: null, at_s: null };
        this.state.life = null;
      }
      this.taken(info);
    } catch (caught) {
      if (ours !== this.loads) return;
      this.failed(caught, name);
    }
  }

  /** Has the engine take what the state names. */
  async loadWorkload(): Promise<void> {
    const { workload, kind, internal } = this.state;
    if (kind === "capture") {
      if (this.engine.captures.includes(workload)) {
        await this.openCapture(workload, null, internal);
      } else {
        this.loads += 1;
        this.clear();
        this.trouble = `Drop ${workload} on this page again: an address never holds a capture.`;
        this.render();
      }
      return;
    }
    const ours = ++this.loads;
    this.loading = true;
    this.trouble = null;
    this.render();
    try {
      const info = await this.engine.load(workload);
      if (ours === this.loads) this.taken(info);
    } catch (caught) {
      if (ours === this.loads) this.failed(caught, workload);
    }
  }

  /** The part of the run that the animation shows: as set, else around the fullest queue. */
  span(): Span | null {
    const { from_s, length_s } = this.state.inside;
    if (from_s !== null) return { from_s, to_s: round(from_s + length_s) };
    const queue = this.slots.find((slot) => slot.outcome !== null && !isOld(slot))?.outcome?.queue;
    if (!queue) return null;
    let peak = 0;
    queue.packets.forEach((packets, place) => {
      if (packets > (queue.packets[peak] ?? 0)) peak = place;
    });
    const from = Math.max(0, Math.floor(((queue.time_s[peak] ?? 0) - length_s / 2) * 10) / 10);
    return { from_s: round(from), to_s: round(from + length_s) };
  }

  /** The end of the run, as far as it is known, s. */
  end(): number {
    const ends = this.slots.map(({ outcome }) => outcome?.queue.time_s.at(-1) ?? 0);
    return Math.max(this.info?.span_s ?? 0, ...ends);
  }

  answer(): string {
    const columns = this.columnsWithOutcome();
    return answer(columns, this.advice.of(columns.map(({ outcome }) => outcome), this.loadedBy()), this.metrics);
  }

  /** How a discipline runs where its command puts it: of a capture, as `mayfly whatif` has it. A preset is nobody's link. */
  private loadedBy(): Loading | null {
    const { info, state } = this;
    if (info?.kind !== "capture" || info.name !== state.workload) return null;
    return (label, where) => {
      const column = state.columns.findIndex((own) => labelOf(own) === label);
      return column < 0 ? null : { ...requestOf(state, info, column, null), as_loaded: where };
    };
  }

  /** The command that switches on the discipline of each column, in front of the link that is set; undefined where its run is not over. */
  loadLines(): (string | null | undefined)[] {
    return this.slots.map((slot) => (slot.outcome === null || isOld(slot) ? undefined : slot.outcome.load));
  }

  columnsWithOutcome(): { label: string; outcome: NonNullable<Slot["outcome"]> }[] {
    return this.state.columns.flatMap((column, place) => {
      const outcome = this.slots[place]?.outcome;
      return outcome ? [{ label: labelOf(column), outcome }] : [];
    });
  }

  /** The same, of the runs whose packets were asked for: only these know who waits for whom. */
  columnsWithPackets(): { label: string; outcome: NonNullable<Slot["outcome"]> }[] {
    return this.state.columns.flatMap((column, place) => {
      const outcome = this.insides[place]?.outcome;
      return outcome ? [{ label: labelOf(column), outcome }] : [];
    });
  }

  /** Whether every column, and the answer, shows what the sliders say. */
  settled(): boolean {
    return !this.loading && !this.advice.busy && this.slots.every((slot) => !slot.busy && !isOld(slot));
  }

  private taken(info: Info): void {
    this.loading = false;
    this.trouble = null;
    this.info = info;
    this.runner.forget();
    for (const slot of [...this.slots, ...this.insides, this.lifeSlot]) this.runner.clear(slot);
    this.writeAddress();
    this.wish();
    this.render();
  }

  private failed(caught: unknown, name: string): void {
    this.loading = false;
    const said = caught instanceof Error ? caught.message : String(caught);
    this.trouble = said.includes(name) ? said : `${name}: ${said}`;
    if (!(caught instanceof EngineError)) this.trouble = `${name} could not be read: ${said}`;
    // What was there before stays; a state that never had figures says so.
    if (this.info !== null && this.state.workload !== this.info.name) {
      this.state.workload = this.info.name;
      this.state.kind = this.info.kind;
      this.writeAddress();
    }
    this.render();
  }

  private clear(): void {
    this.info = null;
    this.loading = false;
    for (const slot of [...this.slots, ...this.insides, this.lifeSlot]) this.runner.clear(slot);
  }

  /** Asks for what the state wants and nobody has asked for. */
  private wish(): void {
    const { info, state, slots, insides, runner } = this;
    fit(slots, state.columns.length, runner);
    fit(insides, state.columns.length, runner);
    if (info === null || info.name !== state.workload) return;
    state.columns.forEach((_, column) => runner.want(slots[column] as Slot, requestOf(state, info, column, null), 0));
    // The first screen goes first: packets when its figures are there.
    const looks = state.tab === "queue" || state.tab === "waits";
    const span = looks && slots.every((slot) => !slot.busy) ? this.span() : null;
    if (span !== null) state.columns.forEach((_, column) => runner.want(insides[column] as Slot, requestOf(state, info, column, span), 1));
    const life = this.lifeSpan();
    if (life !== null && state.life !== null) runner.want(this.lifeSlot, requestOf(state, info, state.life.column, life), 1);
    else if (state.life === null && this.lifeSlot.wanted !== null) runner.clear(this.lifeSlot);
  }

  /** The time from the first to the last packet of the transfer whose life is open. */
  private lifeSpan(): Span | null {
    const { life } = this.state;
    const slot = life && this.slots[life.column];
    if (!life || !slot?.outcome || isOld(slot)) return null;
    const { transfers } = slot.outcome;
    const place = transfers.id.indexOf(life.flow);
    // Pings, calls and datagrams are no transfers: of them the part that the animation shows.
    if (place < 0) return this.span();
    const start = transfers.start_s[place] ?? 0;
    const response = transfers.response_s[place];
    const end = response === null || response === undefined ? this.end() : start + response;
    return { from_s: round(Math.max(0, start - 0.02)), to_s: round(Math.max(end + 0.05, start + 0.1)) };
  }

  private writeAddress(): void {
    if (this.writing !== null) clearTimeout(this.writing);
    // Browsers refuse a page that writes its address at every step of a slider.
    this.writing = setTimeout(() => {
      this.writing = null;
      this.flushAddress();
    }, 250);
  }

  flushAddress(): void {
    const hash = `#${toAddress(this.state)}`;
    if (hash === this.written) return;
    this.written = hash;
    history.replaceState(null, "", hash);
  }

  private readAddress(): void {
    if (location.hash === this.written) return;
    this.written = location.hash;
    const { state, problems } = fromAddress(location.hash, this.catalogue);
    const same = this.info !== null && state.workload === this.state.workload && state.kind === this.state.kind;
    this.state = state;
    this.problems = problems;
    if (same) this.change(() => undefined);
    else void this.loadWorkload();
  }
}

function round(value: number): number {
  return Math.round(value * 1e6) / 1e6;
}

function fit(slots: Slot[], count: number, runner: Runner): void {
  while (slots.length < count) slots.push(emptySlot());
  for (const slot of slots.splice(count)) runner.clear(slot);
}

async function readCatalogue(): Promise<Catalogue> {
  const response = await fetch(new URL("catalogue.json", document.baseURI));
  if (!response.ok) throw new EngineError(`The file catalogue.json is not beside this page (HTTP ${response.status}): make explore writes it.`);
  return (await response.json()) as Catalogue;
}

export async function start(root: HTMLElement): Promise<void> {
  applyTheme(themeChoice());
  const [catalogue, engine] = await Promise.all([readCatalogue(), chooseEngine()]);
  const { state, problems } = fromAddress(location.hash, catalogue);
  const first = engine.captures[0];
  // The capture of the command line, unless the address says something else.
  if (first !== undefined && location.hash.length < 2) Object.assign(state, { kind: "capture", workload: first });
  new App(catalogue, engine, state, problems).show(root);
}
