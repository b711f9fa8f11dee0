"""Tables for the terminal."""

import io

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from rich.console import Console
from sections import text_of

from mayfly.comparison.overview import overview_table
from mayfly.show import plain
from mayfly.show.table import Cell, Table
from mayfly.show.terminal import drawn
from mayfly.text.readable import (
    bytes_text,
    count_text,
    digits,
    interval_text,
    memory_text,
    rate_text,
    spread_text,
    time_text,
)


def row(label="efd", short_s=0.0907, long_s=3.758, unfinished=11):
    def flows(mean_s):
        return {
            "mean_s": mean_s,
            "ci95": None if mean_s is None else [0.9 * mean_s, 1.1 * mean_s],
            "flows": 9,
            "mean_size_packets": 20.6,
        }

    return {
        "id": label,
        "label": label,
        "options": {},
        "short": flows(short_s),
        "long": flows(long_s),
        "flows_completed": 100,
        "flows_unfinished": unfinished,
        "unfinished_bytes": 123_456_789,
        "unfinished_delivered_bytes": 1,
        "utilisation": 0.795,
        "drops": 123_613,
        "marks": 0,
        "queue_mean_packets": 84.7,
        "flow_table": {"mean": 392.5, "max": 1031, "bytes": 6416},
        "throughput_mbps": {"down": 7.9, "up": 0.1},
        "udp": {"packets": 0, "lost": 0, "loss": None},
        "cpu_s": 0.2,
        "packet_hops": 3,
    }


ROWS = [row("fifo", 0.39, 3.519), row("efd(threshold=40, high=las)"), row("[red]las", 2e-5, None, 0)]


def test_the_table_is_readable_in_80_columns():
    table = overview_table({"disciplines": ROWS})
    assert isinstance(table, Table)
    text = text_of(table, 80)
    assert max(map(len, text.splitlines())) <= 80
    for whole in (
        "390 ms",
        "[351, 429]",
        "3.52 s",
        "[3.17, 3.87]",
        "90.7 ms",
        "79.5 %",
        "123,613",
        "123 MB",
        "392/1,031",
        "6.27 KiB",
        "20.0 µs",
        "[red]las",
    ):
        assert whole in text, text


@pytest.mark.parametrize("width", [75, 60, 40])
def test_a_narrow_terminal_gets_parts_that_lose_no_figure(width):
    text = text_of(overview_table({"disciplines": ROWS}), width)
    assert max(map(len, text.splitlines())) <= width
    assert text.count("fifo") == text.count("discipline") >= 2
    for whole in ("390 ms", "[3.17, 3.87]", "79.5 %", "123,613", "123 MB", "1,031", "6.27 KiB"):
        assert whole in text, text


@pytest.mark.parametrize("width", [1, 10, 20])
def test_no_width_breaks_the_table(width):
    assert text_of(overview_table({"disciplines": ROWS}), width)


def test_a_value_the_run_cannot_give_is_a_dash():
    bare = row() | {"utilisation": None, "drops": None, "flow_table": {"mean": None, "max": None, "bytes": None}}
    assert text_of(overview_table({"disciplines": [bare]}), 80).count("–") >= 4


def test_marks_have_a_column_when_there_are_any():
    assert "marks" not in text_of(overview_table({"disciplines": ROWS}), 80)
    marked = [*ROWS[1:], row("red") | {"marks": 1203}]
    text = text_of(overview_table({"disciplines": marked}), 90)
    assert "marks" in text and "1,203" in text


def many(count=13):
    """Rows of three families, mixed up."""
    kinds = ["size-based", "plain", "fair queueing"]
    return [
        row(f"d{at}(threshold=30kB)" if at % 4 == 3 else f"d{at}", 0.1 + at / 100) | {"family": kinds[at % 3]}
        for at in range(count)
    ] + [row("fifo", 0.9) | {"family": "plain"}]


def test_many_disciplines_are_grouped_by_family_with_the_baseline_first():
    text = text_of(overview_table({"disciplines": many()}), 140)
    lines = [line.split()[0] for line in text.splitlines()[3:]]
    heads = [at for at, line in enumerate(lines) if line in ("plain", "size-based", "fair")]
    assert [lines[at] for at in heads] == ["plain", "size-based", "fair"] and heads[0] == 1
    assert lines[2] == "fifo" and lines[3:7] == ["d1", "d4", "d7(threshold=30kB)", "d10"]
    assert len(lines) == 1 + 3 + 14, "one line each"
    for whole in ("100 ±10 ms", "3.76 ±0.38 s", "123,613", "392/1,031", "6.27 KiB", "79.5 %"):
        assert whole in text, text


@pytest.mark.parametrize(("width", "hidden"), [(140, ""), (80, "memory"), (50, "unfinished"), (30, "long flows")])
def test_a_narrow_terminal_leaves_out_columns_of_many_and_names_them(width, hidden):
    text = text_of(overview_table({"disciplines": many()}), width)
    assert max(map(len, text.splitlines())) <= width
    note = " ".join(text.partition("no room for: ")[2].split())
    assert (hidden in note) if hidden else not note
    assert "100 ±10 ms" in text


@pytest.mark.parametrize("width", [1, 10, 20])
def test_no_width_breaks_the_table_of_many(width):
    assert text_of(overview_table({"disciplines": many()}), width)


def test_best_and_worst_are_coloured_on_a_terminal_only():
    def written(**settings):
        stream = io.StringIO()
        Console(file=stream, width=100, **settings).print(drawn(overview_table({"disciplines": many()})))
        return stream.getvalue()

    colours = {"force_terminal": True, "color_system": "standard"}
    assert "\x1b[1;32m" in written(**colours) and "\x1b[31m" in written(**colours)
    plain = written(**colours, no_color=True)
    assert "\x1b[1m" in plain and "[31m" not in plain and "32m" not in plain
    assert "\x1b" not in written()


def test_a_run_before_there_were_families_and_memory_still_has_a_table():
    before = [row(f"d{at}") for at in range(9)]
    for old in before:
        del old["marks"], old["flow_table"]["bytes"]
    text = text_of(overview_table({"disciplines": before}), 100)
    assert "d8" in text and "–" in text
    assert text_of(overview_table({"disciplines": before[:2]}), 80).count("–") >= 2


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (time_text(0.0), "0 s"),
        (time_text(1e-9), "0.00100 µs"),
        (time_text(59.94), "59.9 s"),
        (interval_text(2.0, [-0.5, 4.5]), "[-0.500, 4.50]"),
        (bytes_text(0), "0 B"),
        (bytes_text(3.2e12), "3.20 TB"),
        (rate_text(64e3), "64.0 kbit/s"),
        (count_text(None), "–"),
        (memory_text(300), "0.293 KiB"),
        (spread_text(2e-5, [1e-5, 3e-5]), "20.0 ±10.0 µs"),
        (spread_text(1234.5, [1200, 1269]), "1,234 ±34 s"),
        (spread_text(None, None), "–"),
        (digits(-1234.6), "-1,235"),
    ],
)
def test_numbers_read_at_a_glance(text, expected):
    assert text == expected


LETTERS = st.text("ab 3%–µ漢\u0301", max_size=8)
NAMES_OF_ROWS = st.text("abc(=)", min_size=1, max_size=30)


@st.composite
def tables(draw):
    names = draw(st.integers(1, 2))
    count = names + draw(st.integers(1, 4))
    heads = draw(st.lists(st.sampled_from(["link use", "un-\nfinished", "p95"]), min_size=count, max_size=count))
    cell = st.one_of(LETTERS, st.builds(Cell, LETTERS, st.sampled_from([None, True, False]), LETTERS))
    row = st.tuples(*[NAMES_OF_ROWS] * names, *[cell] * (count - names))
    body = draw(st.lists(st.one_of(NAMES_OF_ROWS, row), min_size=1, max_size=4))
    widest = draw(st.sampled_from([None, 0, 10]))
    return Table(draw(LETTERS), tuple(heads), tuple(body), names=names, widest=widest, padded=draw(st.booleans()))


@given(tables(), st.integers(10, 120))
@example(overview_table({"disciplines": ROWS}), 100)
@example(overview_table({"disciplines": many()}), 140)
@example(Table("", ("link use", "link use", "p95", "link use"), (("=", "=", "333 ", ""),), names=2), 30)
def test_a_table_drawn_without_the_library_is_the_same(table, width):
    found = plain.drawn(table, width)
    assert found is None or found == text_of(table, width)


def test_the_tables_of_a_comparison_take_no_library():
    for rows in (ROWS, many()):
        assert plain.drawn(overview_table({"disciplines": rows}), 140) is not None
