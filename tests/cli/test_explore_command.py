"""`mayfly explore`: it says where the page is, refuses in one line, and ends with an interrupt."""

import http.client
import queue
import re
import signal
import subprocess
import sys
import urllib.parse

import pytest
from explore_standin import CAPTURE, Engine, page
from invocation import PLAIN, heed_interrupts, mayfly_here, refused_here

from mayfly.explore import documents, server

ADDRESS = re.compile(r"http://127\.0\.0\.1:(\d+)/([\w-]{40,})/")
SERVED = """\
import sys
from pathlib import Path
from explore_standin import Engine, page
from mayfly.explore import server
server.PAGE, server._native_engine = page(Path(sys.argv.pop(1))), Engine
from mayfly.cli import main
main()
"""


@pytest.fixture
def built(tmp_path, monkeypatch):
    """A page that was built, and an engine that does nothing."""
    monkeypatch.setattr(server, "PAGE", page(tmp_path / "page"))
    monkeypatch.setattr(server, "_native_engine", Engine)
    return tmp_path


def test_without_the_page_one_line_says_what_builds_it(monkeypatch, tmp_path):
    monkeypatch.setattr(server, "PAGE", tmp_path)
    assert refused_here("explore", "--no-browser") == (
        "the page was not built: `make explore` builds it in a checkout; wheels have it"
    )


def test_bad_input_is_refused_in_one_line(built):
    (built / "bad.pcap").write_bytes(b"nonsense")
    assert refused_here("explore", built / "none.pcap").endswith("none.pcap: no such file: must be a capture")
    assert refused_here("explore", built / "bad.pcap").endswith("bad.pcap: not a capture: must be pcap or pcapng")
    assert refused_here("explore", built).endswith("is a folder: must be a capture")
    assert "port 70000: must be from 0 to 65535" in refused_here("explore", "--port", 70000)
    assert "internal = 'x': must be a network" in refused_here("explore", "--internal", "x")
    assert "'--port'" in refused_here("explore", "--port", "x")


def test_real_captures_that_cannot_be_read_are_refused_in_one_line(tmp_path, monkeypatch):
    monkeypatch.setattr(server, "PAGE", page(tmp_path / "page"))
    (tmp_path / "page" / "template.json").write_text(documents.text(documents.template()), encoding="utf-8")
    for name, content in (
        ("empty.pcap", b""),
        ("text.pcap", b"no capture at all\n" * 9),
        ("gzip.pcap.gz", b"\x1f\x8b\x08nonsense"),
        ("zstd.pcap.zst", b"\x28\xb5\x2f\xfdnonsense"),
        ("nothing.pcap", b"\xd4\xc3\xb2\xa1\2\0\4\0" + b"\0" * 8 + b"\xff\xff\0\0\1\0\0\0"),
    ):
        (tmp_path / name).write_bytes(content)
        line = refused_here("explore", "--no-browser", tmp_path / name)
        assert line.startswith(f"{tmp_path / name}: ") and line.count(name) == 1, line


def test_a_native_module_without_the_engine_says_what_brings_it(built, monkeypatch):
    from mayfly import _native

    monkeypatch.undo()
    monkeypatch.setattr(server, "PAGE", built / "page")
    monkeypatch.delattr(_native, "Explorer", raising=False)
    assert "`make build` builds one that has" in refused_here("explore", "--no-browser")


def test_it_opens_the_browser_unless_told_not_to(built, monkeypatch):
    opened = queue.Queue()
    monkeypatch.setattr(server, "_open_browser", opened.put)
    monkeypatch.setattr(server.Server, "serve_forever", lambda self: None)
    told = mayfly_here("explore")
    assert told.status == 0 and told.err == "" and told.out.count("\n") == 1
    assert ADDRESS.match(told.out)[0] == opened.get(timeout=60)
    assert mayfly_here("explore", "--no-browser").status == 0
    assert opened.empty()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_serves_until_it_is_interrupted(tmp_path, number):
    (tmp_path / "own.pcap").write_bytes(CAPTURE)
    code = [sys.executable, "-c", SERVED, tmp_path / "page", "explore", tmp_path / "own.pcap", "--no-browser"]
    path = {"PYTHONPATH": ":".join(sys.path)}
    with subprocess.Popen(
        code,
        env=PLAIN | path,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=heed_interrupts,
    ) as process:
        try:
            line = process.stdout.readline()
            port, token = ADDRESS.match(line).groups()
            connection = http.client.HTTPConnection("127.0.0.1", int(port), timeout=60)
            connection.request("POST", f"/{token}/api/open?name={urllib.parse.quote('own.pcap')}")
            answer = connection.getresponse()
            assert (answer.status, b"own.pcap" in answer.read()) == (200, True)
            process.send_signal(number)
            out, err = process.communicate(timeout=60)
        finally:
            process.kill()
    assert process.returncode == 128 + number
    assert out == "" and err == "mayfly: interrupted: nothing half-written was left\n"
