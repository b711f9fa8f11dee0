"""The tables of options (kernel/options): numbers that stay, and the pages made of them."""

import re
import sys

import cores
import pytest

KERNEL = cores.DRIVERS.parent
sys.path.insert(0, str(KERNEL / "options"))
import option_rows  # noqa: E402

ATTRIBUTES = {
    "efd": "LIMIT 1 4, LIMIT_BYTES 2 4, COUNT 3 1, THRESHOLD 4 4, HIGH 5 1, LOW 6 1, FLOWS 7 4, SPLIT 8 1",
    "estmred": "LIMIT_BYTES 2 8, LIMIT 3 8, BYTES 4 8, MIN 5 8, MAX_TH 6 8, AVPKT 7 8, PROBABILITY 8 8, WEIGHT 9 8, "
    "GENTLE 10 8, WAIT 11 8, ECN 12 8, MARK_MAX 13 8, SPLIT 14 8, ESTIMATE 15 8, METHOD 16 8, RATE 17 8, "
    "RTT 18 8, QUEUED_RTT 19 8, SAMPLING 20 8, PER_ESTIMATE 21 8, START 22 8, TICKS 23 8, QUEUE_FILTER 24 8, "
    "DROP_FILTER 25 8, SMOOTHING 26 8, GAMMA_1 27 8, GAMMA_2 28 8, START_SHARE 29 8, PER_ACK 30 8, "
    "ABOVE 31 8, BELOW 32 8, ZERO_INTERVALS 33 8",
    "las": "LIMIT 1 4, LIMIT_BYTES 2 4, COUNT 3 1, HALF_LIFE 4 8, VISIT 5 8, TIMEOUT 6 8, FLOWS 7 4, SPLIT 8 1",
    "lfq": "LIMIT 2 4, LIMIT_BYTES 3 4, USER 4 1, WEIGHTS 5 1, PREFIX 6 4, PREFIX6 7 4, USER_LAG 8 4, FLOW_LAG 9 4, "
    "DEBT 10 4, PACE 11 4, PROBATION 12 8, FLOWS 13 4, USERS 14 4, LAG_TIME 15 8, PATIENCE 16 8, TARGET 17 8, "
    "INTERVAL 18 8, MTU 19 4, ECN 20 1, STEP 21 8, SPLIT 22 1, LIMIT_TIME 23 8, MEMLIMIT 24 4, BANDWIDTH 25 8, "
    "INGRESS 26 1, OVERHEAD 27 4, RAW 28 0, MPU 29 4, FRAMING 30 1, NAT 31 1, DSCP 32 0",
    "run2c": "LIMIT 1 4, LIMIT_BYTES 2 4, COUNT 3 1, THRESHOLD 4 4, VISIT 5 8, TIMEOUT 6 8, FLOWS 7 4, SPLIT 8 1",
}
"""Number of every attribute and its bytes as they were when the tables were made (2026-11-29)."""
PAD = {"las": 9, "run2c": 9, "lfq": 1, "estmred": 1}
LAST = re.compile(r"^#define MF_\w+_LAST (\d+)$", re.MULTILINE)


@pytest.mark.parametrize("id", ATTRIBUTES)
def test_an_attribute_keeps_its_number_and_its_width(id):
    found = {row.name: (row.number, row.size) for row in option_rows.rows(id)}
    before = {name: (int(number), int(size)) for name, number, size in map(str.split, ATTRIBUTES[id].split(", "))}
    assert {name: found.get(name) for name in before} == before


@pytest.mark.parametrize("id", option_rows.ids())
def test_no_number_is_given_twice_and_the_last_one_is_the_last(id):
    numbers = [row.number for row in option_rows.rows(id)] + ([PAD[id]] if id in PAD else [])
    assert len(numbers) == len(set(numbers)) and min(numbers) == 1
    text = (KERNEL / "options" / f"{id}.h").read_text()
    assert [max(numbers)] == [int(last) for last in LAST.findall(text)]


@pytest.mark.parametrize("id", option_rows.ids())
def test_a_page_has_a_line_for_every_option(id):
    head, rule, *lines = option_rows.page(id)
    assert {line.count("|") for line in (head, rule, *lines)} == {4}
    names = {name for row in option_rows.rows(id) for name in [row.option] if name}
    shown = set(re.findall(r"[\w-]+", " ".join(line.split("|")[1] for line in lines)))
    assert names <= shown


def test_text_that_is_no_row_is_refused(tmp_path):
    good = (KERNEL / "options" / "las.h").read_text()
    (tmp_path / "las.h").write_text(good)
    assert option_rows.rows("las", tmp_path) == option_rows.rows("las")
    (tmp_path / "las.h").write_text(good.replace("\tOWN(TCA_LAS_SPLIT", "\tELSE(TCA_LAS_SPLIT"))
    with pytest.raises(ValueError, match=r"options/las\.h: must be a row or a line of the page, not ELSE"):
        option_rows.rows("las", tmp_path)
    (tmp_path / "las.h").write_text("/* Nothing. */\n")
    with pytest.raises(ValueError, match=r"options/las\.h: must have a table"):
        option_rows.rows("las", tmp_path)
