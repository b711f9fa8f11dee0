"""The disciplines and their options in the terminal."""

import io

import pytest
from rich.console import Console

from mayfly.discipline_registry import disciplines, named_in, parse
from mayfly.discipline_registry.listing import DisciplinesList, discipline_detail, example

SPECS = [
    {
        "id": "fifo",
        "family": "plain",
        "about": "First in, first out",
        "source": "",
        "when_full": "the arriving packet",
        "keeps_flow_order": True,
        "time_driven": False,
        "params": [],
    },
    {
        "id": "efd",
        "family": "size-based",
        "about": "Early flow discard",
        "source": "Chen 2012",
        "when_full": "the last low packet",
        "keeps_flow_order": False,
        "time_driven": True,
        "params": [
            {"name": "threshold", "unit": "packets", "about": "th", "default": 20.0, "min": 1.0, "max": 1000.0},
            {"name": "high", "unit": "", "about": "order", "default": "fifo", "choices": ["fifo", "las"]},
            {"name": "flows", "unit": "queues", "about": "hashed", "default": 1024, "min": 1, "max": 65536},
            {
                "name": "levels",
                "unit": "bytes",
                "about": "demotion",
                "default": [1e4, 1e5],
                "min": 1.0,
                "max": 1e9,
                "most": 7,
            },
        ],
    },
]


def text_of(what, width):
    stream = io.StringIO()
    Console(file=stream, width=width, color_system=None).print(what)
    return stream.getvalue()


@pytest.mark.parametrize("width", [120, 80, 60, 40])
def test_the_list_holds_families_sources_drops_and_options_at_any_width(width):
    text = text_of(DisciplinesList(SPECS), width)
    assert max(map(len, text.splitlines())) <= width
    flat = " ".join(text.split())
    for whole in ("plain", "size-based", "Early flow discard", "Chen 2012", "high = fifo|las (fifo)"):
        assert whole in flat, text
    if width != 80:
        for whole in (
            "when full: drops the last low packet",
            "threshold (20 packets; 1 to 1000)",
            "flows (1024 queues; 1 to 65536)",
        ):
            assert whole in flat, text
    assert "(10000:100000 bytes;" in flat
    assert flat.index("plain") < flat.index("fifo") < flat.index("size-based") < flat.index("efd")
    assert "packets or bytes" in flat and "network.buffer" in flat


@pytest.mark.parametrize("width", [1, 10, 20])
def test_no_width_breaks_the_list_or_the_detail(width):
    assert text_of(DisciplinesList(SPECS), width)
    assert text_of(discipline_detail(SPECS[1]), width)


def test_an_empty_list_is_no_error():
    assert "network.buffer" in text_of(DisciplinesList([]), 80)


def test_the_detail_explains_every_option():
    text = text_of(discipline_detail(SPECS[1]), 100)
    for whole in (
        "Early flow discard",
        "size-based",
        "Chen 2012",
        "drops the last low packet",
        "not kept",
        "may hold packets while the link idles",
        "levels (10000:100000 bytes; up to 7 from 1 to 10^9, ascending)",
        "demotion",
        "hashed",
        '"fifo,efd(threshold=20)"',
    ):
        assert whole in text, text
    simple = text_of(discipline_detail(SPECS[0]), 100)
    assert "options" not in simple and "kept" in simple and "never idles" in simple


@pytest.mark.parametrize("row", disciplines(), ids=lambda row: row["id"])
def test_the_example_of_every_discipline_is_one(row):
    assert parse(example(row)).id == row["id"]
    assert text_of(discipline_detail(named_in(row["id"])[0]), 80).count(row["id"]) >= 2
