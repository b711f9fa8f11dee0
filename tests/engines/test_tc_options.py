"""Disciplines of the registry in the words of tc."""

from pathlib import Path

import pytest

from mayfly.discipline_registry import disciplines, parse
from mayfly.discipline_registry import tc_options as leaves_module
from mayfly.discipline_registry.tc_options import (
    LEAVES,
    Leaf,
    Place,
    burst_of,
    differences,
    leaf_of,
    leaf_words,
    leaves,
)
from mayfly.errors import MayflyError

PACKETS = Place(300, "packets", 1500, 10**7)


@pytest.mark.parametrize(
    ("written", "words"),
    [
        ("fifo", "pfifo limit 300"),
        ("codel(target=10ms, ecn=off)", "codel limit 300 target 10000us interval 100000us noecn"),
        ("fq(refill=20ms)", "fq limit 300 quantum 3028 initial_quantum 15140 flow_limit 100 refill_delay 20000us"),
        ("pie(alpha=0.25)", "pie limit 300 target 15000us tupdate 15000us alpha 4 beta 20 ecn"),
        ("cake(isolation=flow)", "cake unlimited besteffort raw no-split-gso memlimit 691200 rtt 100000us flows"),
        ("efd(threshold=40kB)", "efd limit 300p threshold 40000b count bytes high fifo low fifo"),
        ("pefd(high=las)", "efd limit 300p threshold 20p count packets high las low fifo"),
        ("lasack(timeout=9)", "las limit 300p count acked visit 5000000us timeout 9000000us"),
        (
            "lars(half_life=200ms, count=acknowledged)",
            "las limit 300p count acked half_life 200000us visit 5000000us timeout 30000000us",
        ),
        ("run2c", "run2c limit 300p count bytes threshold 30000b visit 5000000us timeout 30000000us"),
        ("efdack", "efd limit 300p threshold 30000b count acked high fifo low fifo"),
    ],
)
def test_options_become_words_of_tc_in_its_units(written, words):
    assert leaf_words(parse(written), PACKETS) == words


def test_a_shaper_of_its_own_counts_what_the_link_adds_to_a_packet():
    # Ethernet's 14 bytes and 20 of the link, on 5 Mbit/s.
    place = Place(300, "packets", 1500, 5 * 10**6, 20, shapes=True)
    for name in ("cake", "lfq"):
        words = leaf_words(parse(name), place)
        assert words.startswith(f"{name} bandwidth 5000000bit overhead 34 mpu 0 noatm ")
        assert not {"unlimited", "raw"} & set(words.split())
        assert "bandwidth" not in leaf_words(parse(name), PACKETS)
    assert [name for name, leaf in leaves().items() if leaf.shapes] == ["cake", "lfq"]


def test_thresholds_of_red_in_packets_become_bytes_of_full_packets():
    # A quarter of the limit and three times that, as the discipline has it.
    words = leaf_words(parse("red"), PACKETS)
    assert words.startswith("red limit 450000 min 112500 max 337500 avpkt 1500 burst 224 bandwidth 10000000bit")
    given = leaf_words(parse("red(mode=bytes, min_th=30000, mean_packet=500, weight=0.004)"), PACKETS)
    assert "min 30000 max 90000 avpkt 500" in given


@pytest.mark.parametrize(("weight", "threshold", "log"), [(0.002, 75.0, 9), (0.004, 15.0, 8), (0.5, 5.0, 1)])
def test_tc_reckons_the_weight_nearest_to_the_one_wanted(weight, threshold, log):
    # iproute2's rule by hand: a burst starting at zero brings the average to the threshold with 2^-log and not before.
    burst, left = burst_of(weight, threshold), None
    left = burst + 1 - threshold
    assert left <= (1 - (1 - 2.0**-log) ** burst) * 2**log
    assert log == 1 or left > (1 - (1 - 2.0 ** -(log - 1)) ** burst) * 2 ** (log - 1)


@pytest.mark.parametrize(
    ("written", "place", "message"),
    [
        ("srpt", PACKETS, "srpt: not in the kernel: must be one of fifo, "),
        ("red(gentle=on)", PACKETS, "red(gentle=on): gentle = on: the kernel's red has off only"),
        ("fq(timeout=1s)", PACKETS, "fq(timeout=1s): timeout = 1: the kernel's fq has 3.0 only"),
        ("pie(alpha=0.1)", PACKETS, "pie(alpha=0.1): alpha = 0.1: the kernel takes sixteenths up to 2"),
        ("sfq(divisor=1000)", PACKETS, "sfq(divisor=1000): divisor = 1000: the kernel takes powers of two"),
        ("sfq(perturb=500ms)", PACKETS, "sfq(perturb=500ms): perturb = 0.5: the kernel takes whole seconds"),
        (
            "cake(target=20ms)",
            PACKETS,
            "cake(target=20ms): target = 0.02: the kernel's cake takes a twentieth of interval",
        ),
        ("estmred(ticks=0)", PACKETS, "estmred(ticks=0): ticks = 0: the kernel has no floating point"),
        ("codel", Place(10**5, "bytes", 1500, 10**7), "buffer = 100000 bytes: the kernel's codel counts packets"),
    ],
)
def test_what_the_kernel_has_not_is_refused_by_name(written, place, message):
    with pytest.raises(MayflyError) as refusal:
        leaf_words(parse(written), place)
    assert str(refusal.value).startswith(message)


def test_a_module_of_ours_without_a_row_takes_the_options_of_the_registry_by_their_names(monkeypatch):
    ours = {"places": ["module"], "qdisc": "", "options": "", "since": ""}
    rows = [row | ({"runs_on": ours} if row["id"] in ("drr", "dualpi2") else {}) for row in disciplines()]
    monkeypatch.setattr(leaves_module, "disciplines", lambda: rows)
    monkeypatch.setattr(leaves_module, "leaves", leaves_module.leaves.__wrapped__)
    assert leaf_of(parse("drr")).module == "sch_drr" and set(leaves_module.leaves()) - set(LEAVES) == {"drr", "dualpi2"}
    assert leaf_words(parse("drr(quantum=3000)"), PACKETS) == "drr limit 300p quantum 3000b"
    words = leaf_words(parse("dualpi2(target=20ms)"), PACKETS)
    assert words.startswith("dualpi2 limit 300p target 20000us ")
    with pytest.raises(MayflyError, match=r"^scfq: not in the kernel: must be one of .*, drr"):
        leaf_of(parse("scfq"))


def test_a_default_that_the_kernel_has_otherwise_is_told():
    assert differences(parse("choke")) == "gentle = off; the weight is a power of two"
    assert differences(parse("fifo")) == ""


@pytest.mark.parametrize("id", LEAVES)
def test_every_option_of_a_leaf_is_one_of_the_registry(id):
    leaf: Leaf = LEAVES[id]
    known = {param["name"] for row in disciplines() if row["id"] == id for param in row["params"]}
    named = [*leaf.options, *leaf.fixed, *leaf.taken]
    # Each once, and none that the kernel's discipline says nothing about.
    assert sorted(named) == sorted(known)


def test_where_a_discipline_runs_is_what_the_leaves_say():
    for row in disciplines():
        at, leaf = row["runs_on"], leaves().get(row["id"])
        if leaf is not None:
            assert at["qdisc"] == leaf.kind
            assert ("module" in at["places"]) == bool(leaf.module)
        else:
            assert "module" not in at["places"]


def test_every_module_of_the_checkout_is_where_some_discipline_runs():
    kernel = Path(__file__).parents[2] / "kernel"
    modules = {file.stem.removeprefix("sch_") for file in kernel.glob("sch_*.c")} - {"common"}
    assert modules == {row["runs_on"]["qdisc"] for row in disciplines() if "module" in row["runs_on"]["places"]}


def test_an_option_of_a_module_of_ours_that_no_row_spells_has_its_own_name_and_unit(monkeypatch):
    rows = [dict(row) for row in disciplines()]
    lars = next(row for row in rows if row["id"] == "lars")
    more = {"name": "grace", "unit": "s", "default": 0.0, "min": 0.0, "max": 9.0, "about": ""}
    lars["params"] = [*lars["params"], more]
    before = leaves()
    monkeypatch.setattr(leaves_module, "disciplines", lambda: rows)
    # The table of the whole process is made once.
    monkeypatch.setattr(leaves_module, "leaves", leaves_module.leaves.__wrapped__)
    after = leaves_module.leaves()
    assert after["lars"].options["grace"]("0.25") == "grace 250000us"
    assert set(after["lars"].options) == {*before["lars"].options, "grace"}
    assert all(set(leaf.options) == set(before[id].options) for id, leaf in after.items() if id != "lars")
