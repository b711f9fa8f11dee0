"""Tables of groups and of the pack: what stands in a cell, and that no text breaks a page."""

from sections import html_of, section_text, text_of

from mayfly.comparison.sections import groups
from mayfly.comparison.sections.groups import percentiles, times
from mayfly.show.table import Cell, Table, html, markdown


def group(name, **more):
    return {
        "group": name,
        "users": 1,
        "flows": 3,
        "share": 0.5,
        "fair_share": 0.25,
        "ratio": 2.0,
        "loss": 0.031,
        "longest_stall_s": None,
        "slowdown": None,
        "unfinished": 0,
    } | more


def row(label, *groups, family="size-based"):
    return {"id": label.split("(")[0], "label": label, "family": family, "groups": list(groups)}


ROWS = [
    row(
        label,
        group("attacker"),
        group("long", longest_stall_s=1.25, ratio=0.5),
        group("short", slowdown={"p50": 1.0, "p95": 2.5, "p99": None}, ratio=None),
    )
    for label in ("fifo", "efd(threshold=30kB)")
]


def test_an_attacker_is_judged_by_more_and_a_victim_by_less():
    assert [times(value).good for value in (0.5, 1.25, 1.26)] == [True, True, False]
    assert [times(value, attacker=False).good for value in (0.79, 0.8, 3.0)] == [False, True, True]
    assert times(2.0, None).good is None
    assert times(None) == Cell("–")


def test_what_never_came_is_infinite_and_what_was_not_measured_a_dash():
    assert percentiles({"p50": 1.5, "p95": None, "p99": None}).text == "1.50 / ∞ / ∞"
    assert percentiles(None).text == "–"


def test_a_group_has_the_columns_it_has_figures_for():
    (table,) = groups.tables({"disciplines": ROWS})
    heads = [" ".join(head.split()) for head in table.heads[1:]]
    assert heads == [
        "attacker of 25.0 %",
        "long of 25.0 %",
        "short of 25.0 %",
        "long longest stall",
        "short slowdown 50 / 95 / 99 %",
        "attacker packets lost",
    ]
    assert [cell.text for cell in list(table.cells())[1]] == [
        "efd(threshold=30kB)", "2.00", "0.50", "–", "1.25 s", "1.00 / 2.50 / ∞", "3.1 %"
    ]  # fmt: skip


def test_flows_without_a_group_are_called_so():
    (table,) = groups.tables({"disciplines": [row("fifo", group(None))]})
    assert table.heads[1].startswith("(no group)")


def test_the_terminal_shows_every_figure_that_fits_and_names_the_others():
    wide, narrow = section_text(groups.SECTION, ROWS, 120), section_text(groups.SECTION, ROWS, 50)
    for whole in ("2.00", "0.50", "1.25 s", "1.00 / 2.50 / ∞", "3.1 %", "efd(threshold=30kB)"):
        assert whole in wide, wide
    assert "no room for" in narrow and "attacker packets lost" in " ".join(narrow.split())
    assert max(map(len, narrow.splitlines())) <= 50


def test_many_disciplines_stand_in_families():
    many = [row(f"las{number}", group("a")) for number in range(5)]
    many += [row(name, group("a"), family="fair queueing") for name in ("drr", "sfq")]
    (table,) = groups.tables({"disciplines": many})
    sections = [one for one in table.rows if isinstance(one, str)]
    assert sections == ["size-based", "fair queueing"]
    assert "fair queueing" in text_of(table) and "fair queueing" in html(table)


def test_no_name_breaks_a_page():
    text = html_of(groups.SECTION, [row("<script>", group("a<b>&"))])
    assert "<script>" not in text and "&lt;script&gt;" in text and "a&lt;b&gt;&amp;" in text
    assert html_of(groups.SECTION, [{"label": "fifo"}]) == ""
    assert "[red]" in section_text(groups.SECTION, [row("[red]", group("[bold]"))])


def test_what_holds_is_marked_in_every_form():
    rows = (("x", Cell("1.00", True)), ("y", Cell("9.00", False)))
    table = Table("t", ("discipline", "a\nb"), rows, notes=("why <",))
    assert markdown(table) == "| discipline | a b |\n|---|---:|\n| `x` | **1.00** |\n| `y` | 9.00 |"
    page = html(table)
    assert '<td class="good">1.00</td>' in page and '<td class="bad">9.00</td>' in page and "why &lt;" in page
    assert ">a<br>b</th>" in page and '<th scope="row">x</th>' in page
    assert "9.00" in text_of(table)
