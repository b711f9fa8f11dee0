"""Checks of a queue discipline in the guest: `run` calls each in turn and says how it went.

Rows are those of tests/helpers/qdiscs.py, as dictionaries.
"""

import ctypes
import errno
import json
import random
import re
import socket
import struct
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import frames
import modules
from frames import DEVICE, Link, tc

CHECKS: list[Callable[[dict], None]] = []
SYSLOG_ACTION_READ_ALL, SYSLOG_ACTION_CLEAR = 3, 5
SPLAT = re.compile(r"WARNING|BUG|KASAN|Oops|stack trace|leak|inconsistent|cut here|refcount")
NOT_OURS = re.compile(r"WARNING: suspicious RCU usage\n(.*\n){1,3}.*lib/maple_tree\.c")
"""User Mode Linux 6.1 walks a process's memory without the lock at every fork (force_flush_all)."""
PARENTS = {
    "tbf": (f"qdisc add dev {DEVICE} root handle 1: tbf rate 1kbit burst 2000 limit 1000000", "1:1"),
    "prio": (f"qdisc add dev {DEVICE} parent 2:1 handle 1: prio", "1:2"),
    "drr": (f"qdisc add dev {DEVICE} parent 2:1 handle 1: drr", "1:1"),
    "netem": (f"qdisc add dev {DEVICE} root handle 1: netem delay 10ms rate 1kbit", "1:1"),
    "mq": (f"qdisc add dev {DEVICE} root handle 1: mq", "1:1"),
}


def check(function: Callable[[dict], None]) -> Callable[[dict], None]:
    CHECKS.append(function)
    return function


def clear_log() -> None:
    ctypes.CDLL(None).klogctl(SYSLOG_ACTION_CLEAR, None, 0)


def kernel_log() -> str:
    text = ctypes.create_string_buffer(1 << 20)
    length = ctypes.CDLL(None).klogctl(SYSLOG_ACTION_READ_ALL, text, len(text))
    return text.raw[:length].decode(errors="replace")


def drained(link: Link, handle: str = "10:") -> dict:
    """Lets all go, and looks that nothing is left, here and in the parents."""
    link.rate("1gbit")
    time.sleep(100)  # the debt of the slow rate is in time
    for name in (handle, "1:"):
        shown = link.shown(name)
        assert shown["qlen"] == shown["backlog"] == 0, (name, shown)
    return link.shown(handle)


def balanced(link: Link, sent: int) -> dict:
    """What was sent has gone, waits, or was dropped; the parent knows as much."""
    shown, parent = link.shown(), link.shown("1:")
    assert shown["packets"] + shown["qlen"] + shown["drops"] == sent, (sent, shown)
    assert (shown["qlen"], shown["backlog"]) == (parent["qlen"], parent["backlog"]), (shown, parent)
    return shown


def filled(row: dict, pkts: int, limit_pkts: int) -> bool:
    """Whether so many wait after many more came."""
    return 0 < pkts <= limit_pkts if row["drops_early"] else pkts == limit_pkts


def is_shown(link: Link, row: dict, option: str, name: str, value: object) -> None:
    """JSON has the value below the name; without a name the text matches the value."""
    text = tc(f"qdisc show dev {DEVICE}")
    assert row["id"] in text, text
    options = link.shown()["options"]
    if name:
        assert options[name] == value, (option, options)
    else:
        assert re.search(value, text), (option, text)


@check
def every_option_is_taken_shown_and_changed(row: dict) -> None:
    link = Link(row["id"])
    try:
        for option, name, value in row["options"]:
            link.change(option and f"{row['id']} {option}")
            is_shown(link, row, option, name, value)
            tc(f"qdisc del dev {DEVICE} parent 1:1")
            tc(f"qdisc add dev {DEVICE} parent 1:1 handle 10: {row['id']} {option}")
            is_shown(link, row, option, name, value)
    finally:
        link.close()


@check
def bad_options_are_refused_in_a_line_that_says_why(row: dict) -> None:
    link = Link(row["id"])
    try:
        before = link.shown()["options"]
        for option, word in row["refused"]:
            said = tc(f"qdisc change dev {DEVICE} parent 1:1 handle 10: {row['id']} {option}", fails=True)
            assert word in said and len(said.strip().splitlines()) == 1, (option, said)
        assert link.shown()["options"] == before
        assert "Usage" in tc(f"qdisc add dev {DEVICE} parent 1:1 {row['id']} help", fails=True)
    finally:
        link.close()


@check
def all_that_comes_is_sent_waits_or_is_dropped(row: dict) -> None:
    link = Link(f"{row['id']} limit 50")
    try:
        rng = random.Random(1)
        for _ in range(1000):
            link.udp([rng.randrange(20)], rng.choice((60, 600, 1500)))
        shown = balanced(link, 1000)
        assert filled(row, shown["qlen"], 50), shown
        assert drained(link)["packets"] == shown["qlen"] + 1
    finally:
        link.close()


@check
def a_limit_in_bytes_holds(row: dict) -> None:
    link = Link(f"{row['id']} limit 20000b")
    try:
        rng = random.Random(2)
        for _ in range(1000):
            link.udp([rng.randrange(20)], rng.choice((60, 600, 1500)))
        shown = balanced(link, 1000)
        assert (0 if row["drops_early"] else 18500) < shown["backlog"] <= 20000, shown
        drained(link)
    finally:
        link.close()


@check
def a_limit_of_one_packet_works_below_every_parent(row: dict) -> None:
    for parent in ("htb", "drr"):
        link = Link(f"{row['id']} limit 1") if parent == "htb" else below(parent, f"{row['id']} limit 1")
        try:
            for _ in range(5):
                link.udp(range(10))
                shown = link.shown()
                assert shown["qlen"] <= 1, (parent, shown)
                time.sleep(30)
            assert link.shown()["packets"] >= 5, (parent, link.shown())
            assert not link.shown()["qlen"], parent
        finally:
            link.close()


@check
def changes_under_load(row: dict) -> None:
    link = Link(f"{row['id']} limit 300")
    try:
        rng, sent = random.Random(3), 0
        for option, _, _ in row["options"] * 3:
            link.udp((rng.randrange(40) for _ in range(300)), 700)
            sent += 300
            link.change(f"{row['id']} limit 300")
            link.change(f"{row['id']} {option}")
            balanced(link, sent)
        link.change(f"{row['id']} limit 7")
        assert filled(row, balanced(link, sent)["qlen"], 7)
        link.change(f"{row['id']} limit 5000 {row['all_memory']}")
        link.udp(range(3000), 100)
        assert filled(row, balanced(link, sent + 3000)["qlen"], 3007)
        drained(link)
    finally:
        link.close()


@check
def deletion_replacement_and_reset_under_load(row: dict) -> None:
    link = Link(f"{row['id']} limit 100")
    try:
        for _ in range(20):
            link.udp(range(200))
            tc(f"qdisc replace dev {DEVICE} parent 1:1 handle 11: {row['id']} limit 50")
            assert link.shown("11:")["qlen"] == link.shown("1:")["qlen"] == 0
            link.udp(range(200))
            tc(f"qdisc del dev {DEVICE} parent 1:1 handle 11:")
            assert link.shown("1:")["qlen"] == 0
            tc(f"qdisc add dev {DEVICE} parent 1:1 handle 10: {link.leaf}")
            link.udp(range(200))
            frames.ip(f"link set {DEVICE} down")
            assert link.shown()["qlen"] == link.shown()["backlog"] == link.shown("1:")["qlen"] == 0, link.shown()
            frames.ip(f"link set {DEVICE} up")
    finally:
        link.close()


def below(parent: str, leaf: str) -> Link:
    """The discipline below another parent than htb, itself held back where it does not do that."""
    link = Link("")
    command, place = PARENTS[parent]
    if parent in ("prio", "drr"):
        tc(f"qdisc add dev {DEVICE} root handle 2: tbf rate 10kbit burst 2000 limit 1000000")
    tc(command)
    if parent == "drr":
        tc(f"class add dev {DEVICE} parent 1: classid 1:1 drr")
        tc(f"filter add dev {DEVICE} parent 1: protocol all matchall flowid 1:1")
    tc(f"qdisc add dev {DEVICE} parent {place} handle 10: {leaf}")
    return link


@check
def the_backlog_returns_to_zero_below_every_parent(row: dict) -> None:
    for parent in PARENTS:
        link = below(parent, f"{row['id']} limit 20")
        try:
            for _ in range(3):
                # Enough flows that every queue of mq has some, whatever the seed of the kernel's hash.
                link.udp((flow for _ in range(2) for flow in range(80)), 500)
                time.sleep(2000)
            for shown in json.loads(tc(f"-s -j qdisc show dev {DEVICE}")):
                assert shown["qlen"] == shown["backlog"] == 0, (parent, shown)
            assert link.shown()["packets"] > 40, (parent, link.shown())
        finally:
            link.close()


@check
def a_hundred_thousand_flows_at_once(row: dict) -> None:
    link = Link(f"{row['id']} limit 100000 {row['all_memory']}")
    try:
        link.udp(range(100_001), 60)
        shown = balanced(link, 100_001)
        assert filled(row, shown["qlen"], 100_000), shown
        if row["flows"]:
            assert shown[row["flows"]] == 100_000, shown
        shown = drained(link)
        link.rate(frames.HELD)
        link.change(f"{row['id']} limit 100")
        link.udp(range(100_000, 200_000), 60)
        assert filled(row, link.shown()["qlen"], 100), link.shown()
        drained(link)
    finally:
        link.close()


@check
def memory_that_is_not_there_is_an_error(row: dict) -> None:
    link = Link(f"{row['id']} limit 100")
    try:
        link.udp(range(50))
        taken = 0
        for limit in (1_048_576, 1_048_575):
            try:
                link.change(f"{row['id']} limit {limit}")
                taken += 1
            except AssertionError as error:
                assert "memory" in str(error), error
        link.udp(range(50, 100))
        balanced(link, 100)
        link.change(f"{row['id']} limit 10")
        balanced(link, 100)
    finally:
        link.close()


@check
def broken_packets_pass(row: dict) -> None:
    link = Link(f"{row['id']} limit 100 {row['all_headers']}")
    try:
        for packet, protocol in frames.noise(4, 3000):
            link.frame(packet, protocol)
        shown = link.shown()
        assert filled(row, shown["qlen"], 100), shown
        drained(link)
    finally:
        link.close()


@check
def flows_of_plain_headers_are_those_of_the_dissector(row: dict) -> None:
    if not row["flows"]:
        return
    link = Link(f"{row['id']} limit 10000")
    try:
        link.udp([0])
        packets, flows = list(frames.dissected(5, 2000)), 0
        for lot in (packets[first : first + 50] for first in range(0, len(packets), 50)):
            for packet, protocol in lot:
                link.frame(packet, protocol)
            before, flows = flows, link.shown()[row["flows"]]
            assert flows > before + 30, (before, flows)
            # Behind PPPoE all headers are read by the kernel's flow dissector.
            for packet, protocol in lot:
                inner = 0x21 if protocol == 0x0800 else 0x57
                link.frame(struct.pack("!BBHHH", 0x11, 0, 1, len(packet) + 2, inner) + packet, 0x8864)
            assert link.shown()[row["flows"]] == flows, [(packet.hex(), protocol) for packet, protocol in lot]
        drained(link)
    finally:
        link.close()


@check
def the_ecn_field_is_left_as_it_is(row: dict) -> None:
    link = Link(f"{row['id']} limit 100", "1mbit")
    try:
        receiver = far(sniffer)
        for tos in (0, 1, 2, 3, 0x28 | 1):
            link.udp(range(30), tos=tos)
            time.sleep(1)
            seen = {received[15] for received in drain(receiver) if received[12:14] == b"\x08\x00"}
            assert seen == {tos}, (tos, seen)
        receiver.close()
    finally:
        link.close()


def far(make: Callable[[], socket.socket]) -> socket.socket:
    """The socket that `make` makes in the far namespace, which only a thread of this process enters."""
    made = []

    def enter() -> None:
        with open(f"/run/netns/{frames.FAR}") as namespace:
            if ctypes.CDLL(None, use_errno=True).setns(namespace.fileno(), 0):
                raise OSError(ctypes.get_errno(), "setns")
        made.append(make())

    thread = threading.Thread(target=enter)
    thread.start()
    thread.join()
    return made[0]


def sniffer() -> socket.socket:
    """A packet socket on the far device."""
    receiver = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
    receiver.bind(("sink", 3))
    receiver.setblocking(False)
    return receiver


def listener() -> socket.socket:
    return socket.create_server((frames.TARGET, 5201))


def drain(receiver):
    while True:
        try:
            yield receiver.recv(70_000)
        except BlockingIOError:
            return


@check
def a_super_packet_is_split_or_not(row: dict) -> None:
    if not row["splits"]:
        return
    for option, whole in (("split", False), ("nosplit", True)):
        link = Link(f"{row['id']} limit 1000 {option}", "20mbit")
        try:
            frames.ip(f"-n {frames.FAR} addr add {frames.TARGET}/24 dev sink")
            with open(f"/proc/sys/net/ipv4/conf/{DEVICE}/arp_ignore", "w") as switch:
                switch.write("0")
            server, receiver = far(listener), far(sniffer)
            sender = socket.create_connection((frames.TARGET, 5201))
            accepted = server.accept()[0]
            # Both in one thread would wait for each other once the buffers are full.
            threading.Thread(target=sender.sendall, args=(bytes(300_000),)).start()
            left = 300_000
            while left:
                left -= len(accepted.recv(1 << 20))
            longest = max(map(len, drain(receiver)))
            assert (longest > 1514) == whole, (option, longest)
            for end in (sender, accepted, server, receiver):
                end.close()
            time.sleep(3)
            assert link.shown()["qlen"] == link.shown("1:")["qlen"] == link.shown("1:")["backlog"] == 0
        finally:
            link.close()


@check
def a_module_in_use_stays(row: dict) -> None:
    link = Link(row["id"])
    try:
        for name in (f"sch_{row['id']}", "mayfly_common"):
            try:
                modules.unload(name)
                raise AssertionError(f"{name} went while in use")
            except OSError as error:
                assert error.errno in (errno.EWOULDBLOCK, errno.EBUSY), error
    finally:
        link.close()
    modules.unload(f"sch_{row['id']}")
    assert f"sch_{row['id']}" not in modules.loaded()
    modules.load(f"sch_{row['id']}")


def leaks() -> str:
    """What the kernel was asked for and nobody knows of any more; nothing where it does not look for that."""
    folder = Path("/sys/kernel/debug")
    if not folder.exists():
        return ""
    if not (folder / "kmemleak").exists():
        subprocess.run(["mount", "-t", "debugfs", "none", folder])
    if not (folder / "kmemleak").exists():
        return ""
    for _ in range(2):
        time.sleep(10)  # what is younger than 5 s is not looked at
        (folder / "kmemleak").write_text("scan")
    return (folder / "kmemleak").read_text()


def run(settings: dict) -> dict:
    """How each check went for ``settings["row"]``, or only those of ``settings["only"]``: None, or how it failed; leaks."""
    results = {}
    clear_log()
    for function in CHECKS:
        if function.__name__ not in settings.get("only", [function.__name__]):
            continue
        try:
            function(settings["row"])
            results[function.__name__] = None
        except Exception:
            results[function.__name__] = traceback.format_exc()
        log = NOT_OURS.sub("", kernel_log())
        if SPLAT.search(log):
            results[function.__name__] = f"{results[function.__name__] or ''}\n{log}"
        clear_log()
    return {"results": results, "leaks": leaks()}
