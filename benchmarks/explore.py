"""Time of a run of the page: the engine natively and as WebAssembly, in CPU time of one process each.

    python benchmarks/explore.py [--repeat N] [--write PAGE]

`make explore` builds the WebAssembly, which node runs. Workloads: the office capture and the presets; of `isp` some
10^5 packets pass either way. Each request is run `--repeat` times; the fastest counts, of both engines alike.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from mayfly import _native
from mayfly.explore.catalogue import PRESETS
from mayfly.explore.documents import preset, template, text

ROOT = Path(__file__).parents[1]
WASM = ROOT / "explore/src/wasm"
CAPTURE = ROOT / "captures/office.pcap.gz"
BEGIN, END = "<!-- explore: timings -->", "<!-- explore: end -->"

SCRIPT = """
import { readFileSync } from "node:fs";
const [, , folder, asked] = process.argv;
const { initSync, Engine } = await import(`file://${folder}/mayfly_web.js`);
initSync({ module: readFileSync(`${folder}/mayfly_web_bg.wasm`) });
const engine = new Engine();
const { documents, capture, options, requests, repeat } = JSON.parse(readFileSync(asked, "utf8"));
documents.forEach((document) => engine.load(document));
const spent = (work) => {
  let best = Infinity;
  for (let turn = 0; turn < repeat; turn++) {
    const before = process.cpuUsage();
    work();
    const { user, system } = process.cpuUsage(before);
    best = Math.min(best, (user + system) / 1e6);
  }
  return best;
};
const bytes = readFileSync(capture);
const took = [spent(() => engine.open("capture", bytes, options))];
for (const request of requests) took.push(spent(() => engine.run(request)));
process.stdout.write(JSON.stringify(took));
"""


def asked() -> list[tuple[str, str, dict]]:
    """Workload, discipline and request of each row."""
    office = {"rate_bps": 10_000_000, "buffer": {"packets": 300}}
    rows = [("office capture, 10 Mbit/s", name, "capture", office) for name in ("fifo", "fq_codel", "lfq")]
    for name in PRESETS:
        own = json.loads(_native.Explorer().load(text(preset(name))))["link"]
        rows += [(f"`{name}`", discipline, name, own) for discipline in ("fifo", "lfq")]
    return [
        (title, discipline, {"workload": workload, "link": link, "discipline": {"id": discipline}})
        for title, discipline, workload, link in rows
    ]


def spent(work, repeat: int) -> float:
    """Least CPU time of some turns, s."""
    took = []
    for _ in range(repeat):
        before = time.process_time()
        work()
        took.append(time.process_time() - before)
    return min(took)


def main() -> int:
    """Prints the table, or writes it into a page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeat", type=int, default=5, metavar="N", help="turns of each (default: %(default)s)")
    parser.add_argument("--write", type=Path, metavar="PAGE", help=f"page with the lines {BEGIN} and {END}")
    given = parser.parse_args()
    if not (WASM / "mayfly_web.js").exists():
        print("no WebAssembly: make explore builds it", file=sys.stderr)
        return 2
    documents, rows = [text(preset(name)) for name in PRESETS], asked()
    options = json.dumps({"internal": ["10.10.0.0/24"], "template": template()})
    requests = [json.dumps(request) for _, _, request in rows]
    with tempfile.TemporaryDirectory() as folder:
        asking, script = Path(folder) / "asked.json", Path(folder) / "time.mjs"
        everything = {"documents": documents, "capture": str(CAPTURE), "options": options, "requests": requests}
        asking.write_text(json.dumps(everything | {"repeat": given.repeat}), encoding="utf-8")
        script.write_text(SCRIPT, encoding="utf-8")
        told = subprocess.run(["node", script, WASM, asking], capture_output=True, check=True, text=True)
    in_wasm = json.loads(told.stdout)
    engine = _native.Explorer()
    for document in documents:
        engine.load(document)
    content = CAPTURE.read_bytes()
    natively = [spent(lambda: engine.open("capture", content, options), given.repeat)]
    natively += [spent(lambda request=request: engine.run(request), given.repeat) for request in requests]
    titles = [("office capture", "read it"), *((title, discipline) for title, discipline, _ in rows)]
    lines = ["| workload | run | natively | WebAssembly | ratio |", "|---|---|---:|---:|---:|"]
    for (title, what), native, wasm in zip(titles, natively, in_wasm, strict=True):
        lines.append(f"| {title} | {what} | {1e3 * native:.0f} ms | {1e3 * wasm:.0f} ms | {wasm / native:.2f} |")
    table = "\n".join(lines)
    if given.write is None:
        print(table)
        return 0
    page = given.write.read_text(encoding="utf-8")
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    given.write.write_text(f"{before}{BEGIN}\n\n{table}\n\n{END}{after}", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
