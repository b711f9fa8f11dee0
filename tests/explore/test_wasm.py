"""The engine as WebAssembly against the native one: the same text for the same request, byte for byte."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from mayfly import _native
from mayfly.explore.catalogue import PRESETS
from mayfly.explore.documents import preset, template, text

ROOT = Path(__file__).parents[2]
WASM = ROOT / "explore/src/wasm/mayfly_web.js"
CAPTURE = ROOT / "captures/office.pcap.gz"
PATIENCE_S = 600

# Every discipline is run once, so that none has arithmetic of its own machine.
DISCIPLINES = [row["id"] for row in json.loads(_native.disciplines())]

SCRIPT = """
import { readFileSync } from "node:fs";
const [, , folder, asked] = process.argv;
const { initSync, Engine } = await import(`file://${folder}/mayfly_web.js`);
initSync({ module: readFileSync(`${folder}/mayfly_web_bg.wasm`) });
const engine = new Engine();
const { documents, capture, options, requests, refused } = JSON.parse(readFileSync(asked, "utf8"));
const said = documents.map((document) => engine.load(document));
said.push(engine.open("office.pcap.gz", readFileSync(capture), options));
said.push(...requests.map((request) => engine.run(request)));
for (const request of refused) {
  try { engine.run(request); said.push(""); } catch (error) { said.push(error.message); }
}
process.stdout.write(JSON.stringify(said));
"""


def requests():
    link = {"rate_bps": 12_000_000, "reverse_rate_bps": 4_000_000, "buffer": {"packets": 120}}
    attack = {"kind": "new-addresses", "rate_bps": 3_000_000, "connections": 1}
    # Its connections begin every 10 s: more ns than a usize of WebAssembly holds.
    split = attack | {"kind": "split", "connections": 4}
    inside = {"from_s": 3.0, "to_s": 4.0}
    asked = [{"workload": "home", "link": link, "discipline": {"id": name}} for name in DISCIPLINES]
    asked += [{"workload": name, "link": link | {"rtt_s": 0.047}, "discipline": {"id": "lfq"}} for name in PRESETS]
    asked += [{"workload": "attack", "link": link, "discipline": {"id": "las"}, "attack": attack, "inside": inside}]
    asked += [{"workload": "attack", "link": link, "discipline": {"id": "fifo"}, "attack": split}]
    asked += [
        {"workload": "office.pcap.gz", "link": link | {"rate_bps": rate}, "discipline": {"id": name}, "inside": inside}
        for rate in (4_000_000, 10_000_000)
        for name in ("fifo", "fq_codel", "lfq")
    ]
    return [json.dumps(one) for one in asked]


def test_both_engines_say_the_same(tmp_path):
    if not WASM.exists():
        pytest.skip("no WebAssembly: make explore builds it")
    if shutil.which("node") is None:
        pytest.skip("needs node")
    documents = [text(preset(name)) for name in PRESETS]
    options = json.dumps({"internal": None, "template": template()})
    refused = [json.dumps({"workload": "nothing", "link": {}, "discipline": {}}), "{"]
    given = {"documents": documents, "capture": str(CAPTURE), "options": options, "refused": refused}
    given["requests"] = requests()
    (tmp_path / "asked.json").write_text(json.dumps(given), encoding="utf-8")
    (tmp_path / "say.mjs").write_text(SCRIPT, encoding="utf-8")
    told = subprocess.run(
        ["node", tmp_path / "say.mjs", WASM.parent, tmp_path / "asked.json"],
        capture_output=True,
        check=True,
        timeout=PATIENCE_S,
    )
    native = _native.Explorer()
    said = [native.load(document) for document in documents]
    said.append(native.open("office.pcap.gz", CAPTURE.read_bytes(), options))
    said += [native.run(request) for request in given["requests"]]
    for request in refused:
        with pytest.raises(ValueError, match=r".") as error:
            native.run(request)
        said.append(str(error.value))
    for place, (one, other) in enumerate(zip(json.loads(told.stdout), said, strict=True)):
        assert one == other, place
