"""Table of interfaces: what is shown, and when it is not."""

from sections import html_of, section_text

from mayfly.comparison.sections.links import INTERFACES, MOST, busiest


def interface(name, use, **rest):
    counts = {"arrivals": 2000, "drops": 10, "marks": 0, "lost": 0, "queue_mean_packets": 12.34}
    return {"name": name, "rate_bps": 10_000_000, "utilisation": use} | counts | rest


def row(label, *interfaces):
    return {"label": label, "interfaces": list(interfaces)}


ROWS = [
    row("fifo", interface("a>b", 0.5), interface("b>a", 0.0, arrivals=0, drops=0)),
    row("las", interface("a>b", 0.6), interface("b>a", 0.0, arrivals=0, drops=0)),
]


def test_an_interface_has_a_line_per_discipline_and_an_idle_one_none():
    text = section_text(INTERFACES, ROWS, 120)
    assert text.count("a>b") == 2 and "b>a" not in text
    assert "10.0 Mbit/s" in text and "50.0 %" in text and "60.0 %" in text and "0.5 %" in text
    assert "marks" not in text and "lost" not in text


def test_marks_and_losses_have_columns_when_there_are_any():
    text = section_text(INTERFACES, [row("red", interface("a>b", 0.5, marks=77, lost=8))], 120)
    assert "marks" in text and "77" in text and "lost" in text
    assert ">marks<" in html_of(INTERFACES, [row("red", interface("a>b", 0.5, marks=77))])


def test_of_many_interfaces_the_busiest_are_shown_in_their_order():
    rows = [row("fifo", *(interface(f"i{n}", (n * 7 % 30 + 1) / 40) for n in range(30)))]
    shown = busiest(rows)
    assert len(shown) == MOST and shown == sorted(shown)
    least = min(rows[0]["interfaces"][at]["utilisation"] for at in shown)
    assert sum(each["utilisation"] > least for each in rows[0]["interfaces"]) == MOST - 1
    assert f"The busiest {MOST} of 30" in html_of(INTERFACES, rows)


def test_names_are_safe_in_the_page_and_a_dumbbell_has_no_section():
    assert "&lt;b&gt;&gt;c" in html_of(INTERFACES, [row("fifo", interface("<b>>c", 0.5))])
    assert html_of(INTERFACES, [{"label": "fifo"}]) == ""
