"""Real programs in the guest, and what a replay of their capture says they had."""

import shutil

import guest
import numpy as np
import pytest

from mayfly.verify import real, report_text, verification
from mayfly.verify.outcome import asked_of, measured
from mayfly.verify.predicted import connections_of, predicted
from mayfly.verify.workloads import BY_ID
from mayfly.workload.connections import read_captures

pytestmark = pytest.mark.kernel

PROGRAMS = ("nginx", "dnsmasq", "dovecot", "curl", "dig", "ping", "tcpdump")


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    """Nearly idle, 60 s, under fifo."""
    guest.kernel()
    missing = [name for name in PROGRAMS if shutil.which(name, path="/usr/sbin:/usr/bin:/sbin:/bin") is None]
    if missing:
        pytest.skip(f"not installed: {', '.join(missing)}")
    workload = BY_ID["idle"]
    before, workload.duration_s = workload.duration_s, 60.0
    yield workload, real.run(workload, "fifo", 1, tmp_path_factory.mktemp("verify") / "idle")
    workload.duration_s = before


def test_every_program_does_its_work(ran):
    _, told = ran
    assert [step["failed"] for step in told.steps if "failed" in step] == []
    assert {"page", "mail", "call", "ping"} <= {step["program"] for step in told.steps if "end_s" in step}


def test_what_curl_says_is_what_the_capture_has(ran):
    """Two clocks: the time that curl tells of the text of a page, and that of the packets between it and the server."""
    workload, told = ran
    rows = {row["connection_id"]: row for row in read_captures(told.capture).connections.iter_rows(named=True)}
    of_step = connections_of(workload, told)
    compared = 0
    for step in told.steps:
        if step["program"] == "page" and "end_s" in step:
            first = rows[of_step[step["actor"], step["step"]][0]]
            seen_s = first["responder_last_data_s"] - first["start_s"]
            assert step["transfers"][0]["time_s"] == pytest.approx(seen_s, abs=1e-3)
            compared += 1
    assert compared >= 3


def test_on_an_idle_link_the_replay_takes_as_long_as_the_programs(ran):
    workload, told = ran
    was = measured("fifo", told.steps, told.drops)
    guess = predicted(workload, told, ["fifo"])[0]["fifo"]
    keys = [key for key in was.steps_s if key in guess.steps_s]
    assert len(keys) >= 4 and asked_of(told.steps).bytes.keys() >= set(keys)
    ratios = np.array([guess.steps_s[key] / was.steps_s[key] for key in keys])
    assert np.median(ratios) == pytest.approx(1.0, abs=0.05)
    call = next(iter(guess.calls))
    assert guess.calls[call]["mos"] == pytest.approx(was.calls[call]["mos"], abs=0.05)


def test_a_verification_is_told_and_written(ran, tmp_path):
    workload, told = ran
    folder = tmp_path / f"{workload.id}-fifo-1"
    shutil.copytree(told.capture.parent, folder)
    found = verification.verify(tmp_path, ["idle"], ["fifo"], ["fifo"], seeds=2)
    assert [choice.is_right for choice in found.choices] == [True]
    assert verification.write(found, tmp_path).exists()
    page = tmp_path / "page.md"
    page.write_text(f"before\n{report_text.BEGIN}\n{report_text.END}\nafter\n")
    report_text.write_page(found, page)
    text = page.read_text()
    assert text.startswith("before\n") and text.endswith("after\n") and "| idle (aside) | fifo |" in text
