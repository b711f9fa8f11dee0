"""Files that ``mayfly verify`` and ``mayfly arena`` read again, and that neither of them wrote."""

import json

import pytest
from invocation import refused_here

from mayfly.arena.kernel_page import kept
from mayfly.errors import MayflyError
from mayfly.verify.report_text import write_page
from mayfly.verify.stored import read_ran
from mayfly.verify.verification import Verification

QUEUE = {"drops": 3, "bytes": 1000}
STEP = {"actor": "get-1", "step": 0, "client": 1, "program": "get", "start_s": 1.0, "end_s": 2.5, "bytes": 100}
CALL = {way: {"sent_s": [0.0, 0.02], "received_s": [0.1, None]} for way in ("down", "up")}
FOUND = {"steps": [STEP], "down": QUEUE, "up": QUEUE, "kernel": "6.1.0", "clock_s": 1.7e9}


def text(**changed):
    return json.dumps(FOUND | changed)


def step(**changed):
    return text(steps=[STEP | changed])


def test_what_a_run_left_is_read_as_it_stands(tmp_path):
    path = tmp_path / "ran.json"
    steps = [
        STEP,
        STEP | {"program": "ping", "rtts_s": [0.01, 0.02]},
        STEP | {"program": "page", "transfers": [{"time_s": 0.5, "url": "/1"}]},
        STEP | {"program": "call", "ways": CALL},
        STEP | {"program": "ping", "failed": "no answer"},
        {name: STEP[name] for name in ("actor", "step", "client", "program", "start_s")},
    ]
    path.write_text(text(steps=steps, modem={"down": QUEUE, "up": QUEUE}, check={}))
    assert read_ran(path) == FOUND | {"steps": steps, "modem": {"down": QUEUE, "up": QUEUE}, "check": {}}


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", "Expecting value"),
        ("[" * 200_000, "too deep"),
        ("[]", "Input should be a valid dictionary"),
        ("{}", "steps: Field required"),
        (text(steps=5), "steps: Input should be a valid list"),
        (text(clock_s=float("nan")), "clock_s: Input should be a finite number"),
        (text(down=[]), "down: Input should be a valid dictionary"),
        (text(down={"drops": "x"}), "down.drops: Input should be a valid integer"),
        (text(modem=[1]), "modem: Input should be a valid dictionary"),
        (step(actor={"a": 1}), "steps.0.actor: Input should be a valid string"),
        (step(client="../../x"), "steps.0.client: Input should be a valid integer"),
        (step(bytes=10**400), "steps.0.bytes: Input should be less than or equal to"),
        (step(end_s="\x1b[31m"), "steps.0.end_s: Input should be a valid number"),
        (step(end_s=None), "end_s is missing of a step that ended"),
        (step(program="ping"), "rtts_s is missing of a step that ended"),
        (step(program="page", transfers=[]), "transfers is missing of a step that ended"),
        (step(program="call", ways={"down": {}}), "steps.0.ways.down.sent_s: Field required"),
    ],
)
def test_what_no_run_left_is_refused(tmp_path, content, said):
    path = tmp_path / "office-fifo-1" / "ran.json"
    path.parent.mkdir()
    path.write_text(content)
    line = refused_here("verify", "office", "-d", "fifo", "--from", "fifo", "--out", tmp_path)
    assert line.startswith(f"{path}: not what a run of real programs left: ") and said in line


def test_a_page_that_is_no_text_is_refused(tmp_path):
    page = tmp_path / "page.md"
    assert kept(page) == ""
    with pytest.raises(MayflyError, match=r"page\.md: cannot be read: .*No such file or directory"):
        write_page(Verification(), page)
    for content, said in ((b"\xff\xfe", "can't decode byte 0xff"), (b"x" * (11 << 20), "longer than 10,485,760 bytes")):
        page.write_bytes(content)
        with pytest.raises(MayflyError, match=f"page.md: no page of Markdown: .*{said}"):
            kept(page)
        with pytest.raises(MayflyError, match=f"page.md: cannot be read: .*{said}"):
            write_page(Verification(), page)
        assert page.read_bytes() == content
