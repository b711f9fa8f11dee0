"""A stand-in for the engine of the page and a page of two files: the server is tested without either."""

import json
import threading

INFO = {"kind": "preset", "flows": 1}


class Engine:
    """Answers with what it was asked; runs named `wait` end when they are let go."""

    def __init__(self):
        self.loaded, self.opened, self.ran = [], [], []
        self.begun, self.go_on = threading.Semaphore(0), threading.Semaphore(0)

    def load(self, document):
        self.loaded.append(json.loads(document)["name"])
        return json.dumps(INFO | {"name": self.loaded[-1]})

    def open(self, name, capture, options):
        self.opened.append((name, capture, json.loads(options)))
        if not capture.startswith(b"\xd4\xc3\xb2\xa1"):
            raise ValueError(f"{name}: not a capture: must be pcap or pcapng")
        return json.dumps(INFO | {"name": name, "bytes": len(capture)})

    def run(self, request):
        asked = json.loads(request)
        self.ran.append(asked["workload"])
        if asked["workload"] == "wait":
            self.begun.release()
            self.go_on.acquire()
        if asked["workload"] == "panic":
            raise SystemError("index out\nof bounds")
        if asked["workload"] == "memory":
            raise MemoryError
        if asked["workload"] not in ("office", "wait"):
            raise ValueError(f"workload {asked['workload']}: was not loaded")
        return json.dumps({"workload": asked["workload"], "number": asked.get("number")})


CAPTURE = b"\xd4\xc3\xb2\xa1" + b"\0" * 20


def page(folder):
    """A page that was built."""
    (folder / "assets").mkdir(parents=True)
    (folder / "presets").mkdir()
    (folder / "index.html").write_text("<!doctype html><title>page</title>", encoding="utf-8")
    (folder / "assets" / "index.js").write_text("1", encoding="utf-8")
    (folder / "mayfly_bg.wasm").write_bytes(b"\0asm")
    (folder / "template.json").write_text('{"name":"whatif"}\n', encoding="utf-8")
    (folder / "presets" / "office.json").write_text('{"name":"office"}\n', encoding="utf-8")
    return folder
