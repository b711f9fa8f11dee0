"""`mayfly qdisc watch`: what it tells of two readings, recorded in the guest (lfq at 1 and 4 Mbit/s, three users each).

10.0.1.66 sends UDP at 2 Mbit/s from 80 ports into the 1 Mbit/s of eth0; 10.0.1.11 and 10.0.1.12 send and fetch by TCP.
"""

import contextlib
import io
import json
import os
import signal
import subprocess
import time
from dataclasses import replace
from pathlib import Path

import pytest
from invocation import COMMAND, heed_interrupts, mayfly_here, refused_here
from rich.console import Console

from mayfly.qdisc.changes import Change, changes
from mayfly.qdisc.export import _shaped_bytes_per_s
from mayfly.qdisc.page import page
from mayfly.qdisc.show import Row, parse

RECORDED = Path(__file__).parent / "recorded" / "lfq.json"
INTERVAL_S = 2.0


@pytest.fixture(scope="module")
def documents() -> list[list[dict]]:
    return json.loads(RECORDED.read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def found(documents) -> list[Change]:
    before, now = ([row for row in parse(json.dumps(one)) if row.kind == "lfq"] for one in documents)
    return changes(before, now, INTERVAL_S)


def drawn(found: list[Change], width: int) -> str:
    console = Console(width=width, file=io.StringIO(), record=True)
    console.print(page(found, "eth0"))
    return console.export_text()


def test_what_happened_is_the_difference_of_the_two_readings(found, documents):
    up, down = found
    assert (up.row.device, down.row.device) == ("eth0", "ifb4eth0")
    before, now = (next(row for row in one if row.get("dev") == "eth0" and row["kind"] == "lfq") for one in documents)
    assert up.rate_bps == (now["bytes"] - before["bytes"]) * 8 / INTERVAL_S
    assert up.rate_bps == pytest.approx(1e6, rel=0.01), "the shaper's rate"
    assert sum(packets for _, packets in up.waits) == now["packets"] - before["packets"]
    for user in up.users:
        then, there = (next(one for one in row["top"] if one["user"] == user.name) for row in (before, now))
        assert user.rate_bps == (there["bytes"] - then["bytes"]) * 8 / INTERVAL_S
        assert user.drops_pkts == there["drops"] - then["drops"]
    assert up.drops_pkts == sum(user.drops_pkts for user in up.users)


def test_the_attacker_is_told_by_its_loss_and_its_flows_and_nobody_else(found):
    up, down = found
    assert up.suspects() == [
        "10.0.1.66: lost 83 % of 330 packets and goes on",
        "10.0.1.66: has 78 of 81 waiting flows",
    ]
    assert down.suspects() == []


def test_newcomers_and_full_tables_are_told():
    row = Row("eth0", "lfq", "1:", "root", {}, 0, 0, 0, 0, 100, {"newcomers": 60, "sharing": 5, "users": 9})
    later = replace(row, own=row.own | {"sharing": 45})
    (change,) = changes([row], [later], 1.0)
    assert change.suspects() == [
        "new users: 60 of 100 waiting packets are theirs",
        "new users: 40 came to a full table and share slots",
    ]
    quiet = replace(later, own=later.own | {"newcomers": 10, "sharing": 64})
    assert changes([later], [quiet], 1.0)[0].suspects() == []


def test_a_queue_that_was_made_anew_has_no_rates(found):
    row = found[0].row
    (change,) = changes([replace(row, sent_pkts=row.sent_pkts + 1)], [row], 1.0)
    assert change.rate_bps is None or change.drops_pkts is None
    assert change.drops_pkts is None and {user.rate_bps for user in change.users} == {None}
    (first,) = changes([], [row], 1.0)
    assert first.rate_bps is None and sum(packets for _, packets in first.waits) == row.sent_pkts


def test_any_count_that_shrank_tells_of_a_queue_that_was_made_anew(found):
    """Before: one that had sent more by the second reading had bins below zero, and no page."""
    row = found[0].row
    full = max(row.own["waits"], key=lambda wait: wait["packets"])
    others = [
        wait | ({"packets": full["packets"] + 1} if wait is full else {"packets": 0}) for wait in row.own["waits"]
    ]
    before = replace(row, sent_bytes=1, sent_pkts=1, drops_pkts=0, own=row.own | {"waits": others, "top": []})
    (change,) = changes([before], [row], 1.0)
    assert change.drops_pkts is None and change.rate_bps is None
    assert sum(packets for _, packets in change.waits) == row.sent_pkts
    assert "half of the packets" in drawn([change], 80)


def test_any_count_that_shrank_tells_of_a_user_that_came_again(found):
    """Before: 20 drops of one that had sent 20 packets more before were all of nothing."""
    row = found[0].row
    user = row.own["top"][0]
    then, now = (user | counts for counts in ({"packets": 60, "drops": 0}, {"packets": 40, "drops": 20}))
    pair = [replace(row, own=row.own | {"top": [one | {"bytes": 9}]}) for one in (then, now)]
    (change,) = changes(*([one] for one in pair), 1.0)
    (told,) = change.users
    assert (told.rate_bps, told.sent_pkts, told.drops_pkts, told.marks_pkts) == (None,) * 4
    assert not any("lost" in sentence for sentence in change.suspects())


def test_a_page_has_both_directions_users_waits_and_the_attacker(found):
    wide = drawn(found, 120)
    assert "eth0 up: lfq" in wide and "eth0 down (ifb4eth0): lfq" in wide
    for word in ("1.00 Mbit/s, 100.1 % of 1.00 Mbit/s", "3 of 144 users", "p95", "credit", "lost 83 % of 330 packets"):
        assert word in wide
    assert all(len(line) <= 120 for line in wide.splitlines())
    narrow = drawn(found, 40)
    assert all(len(line) <= 40 for line in narrow.splitlines())
    assert "no room for:" in narrow and "10.0.1.66" in narrow


def test_below_mq_the_users_of_each_queue_are_shown(found):
    """Before: of several children only the last one's users, waits and suspects."""
    up, down = found
    mq = Change(Row("eth0", "mq", "1:", "root", {}, 0, 0, 0, 0, 0), 2e6, 5, 0)
    children = [
        replace(change, row=replace(change.row, device="eth0", parent=f"1:{number}", handle=f"{number}:"))
        for number, change in enumerate((up, down), 2)
    ]
    idle = Change(Row("eth0", "fq_codel", "9:", "1:9", {}, 0, 0, 0, 0, 0, {"new_flows_len": 0}))
    text = drawn([mq, *children, idle], 120)
    assert text.startswith("eth0: mq, lfq, fq_codel\n  sends 2.00 Mbit/s, 40.0 % of 5.00 Mbit/s;")
    first, _, second = text.partition("  lfq 3: at 1:3: ")
    assert "  lfq 2: at 1:2: 1.00 Mbit/s" in first
    assert "fq_codel 9:" not in text, "it tells nothing"
    for part, change in ((first, up), (second, down)):
        assert part.count("half of the packets") == 1
        assert all(user.name in part for user in change.users)
    assert "10.0.1.66: lost 83 %" in first and "far more" not in second


def test_of_cake_the_page_has_what_it_tells():
    documents = json.loads(RECORDED.with_name("cake.json").read_text(encoding="utf-8"))
    up, down = changes(*(parse(json.dumps(document)) for document in documents), INTERVAL_S)
    assert up.rate_bps == pytest.approx(1e6, rel=0.01) and up.drops_pkts == 379 and up.users == ()
    text = drawn([up, down], 80)
    assert "100.2 % of 1.00 Mbit/s" in text and "waited of late: 77.6 ms in the mean, 1.59 s peak" in text


def test_a_bandwidth_of_what_does_not_shape_is_no_shaper():
    """Before: estmred, which is told the link's rate in bit/s, was shown as a shaper of eight times that."""
    row = Row("eth0", "estmred", "1:", "root", {"bandwidth": 10_000_000}, 0, 0, 0, 0, 0)
    assert " of " not in drawn(changes([row], [replace(row, sent_bytes=125)], 1.0), 80).partition("wait;")[0]
    # Without its client: what the endpoint says comes from the same place.
    assert _shaped_bytes_per_s(row) is None
    assert _shaped_bytes_per_s(replace(row, kind="cake")) == 10_000_000
    assert _shaped_bytes_per_s(replace(row, kind="cake", options={"bandwidth": "unlimited"})) is None


def test_json_is_a_line_for_each_reading(machine, documents):
    machine.answer("tc -s -j qdisc show", documents[0])
    ended = mayfly_here("qdisc", "watch", "--json", "--readings", "2", "--every", "100ms")
    lines = [json.loads(line) for line in ended.out.splitlines()]
    assert ended.status == 0 and len(lines) == 2
    first, second = (next(row for row in line["qdiscs"] if row["device"] == "eth0") for line in lines)
    assert first["between"]["users"][0]["rate_bps"] is None and second["between"]["users"][0]["rate_bps"] == 0.0
    assert second["own"]["table_users"] == 144 and second["suspects"] == ["10.0.1.66: has 77 of 81 waiting flows"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--readings", "0"], "readings = 0: must be 1 or more"),
        (["--every", "1ms"], "--every = '1ms': must be 0.1s or more"),
        (["--every", "often"], "--every = 'often'"),
    ],
)
def test_bad_options_are_one_line(machine, arguments, said):
    assert said in refused_here("qdisc", "watch", *arguments)


def test_an_interrupt_ends_it_in_one_line(machine, documents):
    machine.answer("tc -s -j qdisc show", documents[0])
    process = subprocess.Popen(
        [*COMMAND, "qdisc", "watch", "--every", "100ms"],
        env=os.environ | {"COLUMNS": "80"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=heed_interrupts,
    )
    while "no room for" not in process.stdout.readline():
        assert process.poll() is None
    process.send_signal(signal.SIGINT)
    begin = time.monotonic()
    _, err = process.communicate(timeout=20)
    assert time.monotonic() - begin < 10
    assert process.returncode == 130 and "Traceback" not in err and len(err.strip().splitlines()) == 1


def test_on_a_terminal_an_interrupt_leaves_it_as_it_was(machine, documents):
    machine.answer("tc -s -j qdisc show", documents[0])
    ours, its = os.openpty()
    process = subprocess.Popen(
        [*COMMAND, "qdisc", "watch", "--every", "100ms"],
        env=os.environ | {"TERM": "xterm", "COLUMNS": "80", "LINES": "40"},
        stdin=subprocess.DEVNULL,
        stdout=its,
        stderr=subprocess.PIPE,
        preexec_fn=heed_interrupts,
    )
    os.close(its)
    shown = b""
    while b"10.0.1.66" not in shown:
        shown += os.read(ours, 4096)
    process.send_signal(signal.SIGINT)
    with contextlib.suppress(OSError):  # the other end is closed
        while more := os.read(ours, 4096):
            shown += more
    _, err = process.communicate(timeout=20)
    os.close(ours)
    assert process.returncode == 130 and len(err.strip().splitlines()) == 1
    assert b"\x1b[?1049h" in shown and shown.rstrip().endswith((b"\x1b[?1049l", b"\x1b[?25h"))
    assert shown.rindex(b"\x1b[?1049l") > shown.rindex(b"10.0.1.66") and shown.rindex(b"\x1b[?25h") > 0
