"""`mayfly whatif -i DEV`: a capture from an interface, in a network namespace of its own with a pair of veth."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from invocation import COMMAND, PLAIN, heed_interrupts, refused_here

from mayfly.errors import MayflyError
from mayfly.workload import live

LINK = ["--rate", "10mbit", "--buffer", "100", "--disciplines", "fifo,fq_codel"]

# A server and a client that fetches 40 kB ten times a second; each line of the client is a transfer that ended.
SERVER = """
import socket
listener = socket.create_server(("10.99.0.2", 8000))
while True:
    peer, _ = listener.accept()
    peer.recv(100)
    peer.sendall(bytes(40_000))
    peer.close()
"""
CLIENT = """
import socket, time
while True:
    with socket.create_connection(("10.99.0.2", 8000)) as server:
        server.sendall(b"get")
        while server.recv(65536):
            pass
    print("fetched", flush=True)
    time.sleep(0.1)
"""


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True)


@pytest.fixture(scope="module")
def link():
    """Name of a namespace with the interface `near`, which talks to `far` in another while the tests run."""
    if os.geteuid() != 0 or not all(map(shutil.which, ("ip", "tcpdump"))):
        pytest.skip("needs root, ip and tcpdump")
    names = [f"mayfly-{side}-{os.getpid()}" for side in ("near", "far")]
    made, started = [], []
    try:
        for name in names:
            done = subprocess.run(["ip", "netns", "add", name], capture_output=True, text=True, check=False)
            if done.returncode:
                pytest.skip(f"needs network namespaces: {done.stderr.strip()}")
            made.append(name)
        inside = [["ip", "netns", "exec", name] for name in names]
        run(*inside[0], "ip", "link", "add", "near", "type", "veth", "peer", "name", "far", "netns", names[1])
        for command, device, address in zip(inside, ("near", "far"), ("10.99.0.1/24", "10.99.0.2/24"), strict=True):
            run(*command, "ip", "addr", "add", address, "dev", device)
            run(*command, "ip", "link", "set", device, "up")
        for command, code in zip(reversed(inside), (SERVER, CLIENT), strict=True):
            started.append(subprocess.Popen([*command, sys.executable, "-c", code], stdout=subprocess.PIPE, text=True))
            time.sleep(0.5)
        assert started[1].stdout.readline() == "fetched\n"
        # The pipe is not read: what the client prints is little.
        yield names[0]
    finally:
        for process in started:
            process.kill()
            process.wait()
        for name in made:
            subprocess.run(["ip", "netns", "del", name], check=False)


def start(link, out, *arguments):
    command = ["ip", "netns", "exec", link, *COMMAND, "whatif", "-i", "near", *LINK, "--out", str(out), *arguments]
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=PLAIN, preexec_fn=heed_interrupts
    )


def test_what_passes_an_interface_is_answered_for(link, tmp_path):
    process = start(link, tmp_path / "out", "--for", "4s", "--json")
    out, err = process.communicate(timeout=100)
    assert process.returncode == 0, err
    summary = json.loads(out)
    assert summary["capture"]["path"] == str(tmp_path / "out" / "capture.pcap")
    sizes = summary["workload"]["bytes"] / summary["workload"]["flows"]
    assert summary["workload"]["flows"] >= 10 and sizes > 15_000
    assert "capturing on near for 4 s" in err and "headers only" in err
    # 40 kB passed again and again, and of each packet 128 bytes were kept.
    assert (tmp_path / "out" / "capture.pcap").stat().st_size < summary["workload"]["bytes"]


def test_an_interrupt_ends_the_capture_and_not_the_command(link, tmp_path):
    process = start(link, tmp_path / "out", "--for", "90s", "--json")
    until = time.monotonic() + 60
    while time.monotonic() < until and not any(
        path.stat().st_size > 4096 for path in (tmp_path / "out").rglob("capture.pcap")
    ):
        time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=100)
    assert process.returncode == 0, err
    assert json.loads(out)["workload"]["flows"] >= 1


def test_the_limit_of_packets_ends_it_and_is_told(link, tmp_path):
    code = (
        "import sys; from mayfly.workload.live import record; found = record('near', 60, sys.argv[1], most_packets=50)"
    )
    code += "; print(*found.sentences(), sep='\\n'); assert found.full and found.packets == 50"
    done = run("ip", "netns", "exec", link, sys.executable, "-c", code, str(tmp_path / "capture.pcap"))
    assert re.search(r"the capture ended after \d+ s: it has 50 packets, the most that are kept", done.stdout)


def test_an_interface_without_packets_is_refused(link, tmp_path):
    run("ip", "netns", "exec", link, "ip", "link", "set", "lo", "up")
    command = [
        "ip",
        "netns",
        "exec",
        link,
        *COMMAND,
        "whatif",
        "-i",
        "lo",
        *LINK,
        "--for",
        "1s",
        "--out",
        tmp_path / "o",
    ]
    done = subprocess.run(command, capture_output=True, text=True, env=PLAIN, check=False)
    assert done.returncode == 2 and "mayfly: -i lo: no TCP or UDP packet in 1 s" in done.stderr
    assert not (tmp_path / "o" / "capture.pcap").exists()


@pytest.mark.skipif(shutil.which("tcpdump") is None, reason="needs tcpdump")
def test_without_the_right_one_line_says_what_to_do(tmp_path, monkeypatch):
    # What tcpdump says to a user without rights, by a stand-in: the tests may be root.
    stand_in = tmp_path / "tcpdump"
    stand_in.write_text(
        '#!/bin/sh\necho "tcpdump: lo: You don\'t have permission to perform this capture" >&2\nexit 1\n'
    )
    stand_in.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    with pytest.raises(MayflyError, match=r"^-i lo: no right to capture; run it with sudo"):
        live.record("lo", 1.0, tmp_path / "capture.pcap")
    assert not (tmp_path / "capture.pcap").exists()


def test_refusals(tmp_path, monkeypatch):
    assert "no such interface; did you mean lo?" in refused_here("whatif", "-i", "loo", *LINK)
    assert "must be one of them" in refused_here("whatif", *LINK)
    assert "must be one of them" in refused_here("whatif", "a.pcap", "-i", "lo", *LINK)
    assert "--for: is the length" in refused_here("whatif", "a.pcap", "--for", "3s", *LINK)
    assert "must be above 0 and at most 24 h" in refused_here("whatif", "-i", "lo", "--for", "0s", *LINK)
    monkeypatch.setattr(live.shutil, "which", lambda *_, **__: None)
    with pytest.raises(MayflyError, match="needs tcpdump"):
        live.record("lo", 1.0, Path(tmp_path / "x"))
