"""What a comparison's page says first: the recommendation, what users feel, both directions."""

import re

import pytest
from browser import figures_in
from invocation import mayfly_here
from packets import FAR, NEAR, write_udp
from synthetic import LAWS, flow_records, sample_rows, summary_of, with_users

from mayfly import whatif
from mayfly.comparison.page import page_text
from mayfly.comparison.unanswered import udp_sentences
from mayfly.show.palette import PALETTE

RECORDS = flow_records(list(LAWS)[:4], flows=800)
SUMMARY = with_users(summary_of(RECORDS))
SAMPLES = sample_rows(RECORDS)
TEXT = page_text(SUMMARY, RECORDS, SAMPLES)


def body_of(text):
    return text[text.index("<body>") : text.index('<script type="application/json"')]


def test_the_answer_and_its_picture_come_before_anything_else():
    head, _, rest = body_of(TEXT).partition("<h2")
    plain = re.sub("</?code>", "`", head).replace("\u2192", "->")
    assert SUMMARY["recommendation"]["sentence"] in plain and SUMMARY["recommendation"]["command"] in head
    assert head.index("recommendation" if "recommendation" in head else "answer") < head.index('id="plot-felt"')
    assert "<table" not in head and "What users feel" in rest
    assert head.index('id="plot-felt"') < head.index('<nav class="contents"'), "the contents follow the first screen"


def test_the_bars_are_what_users_feel_with_their_intervals():
    figure = figures_in(TEXT)["felt"]
    assert figure["grid"] == [
        "short transfers, p95 (ms)",
        "ping under load, p95 (ms)",
        "page load, p95 (s)",
        "long transfers, p95 (s)",
    ]
    keys = {"x": ("short", "p95_s", 1e3), "x2": ("ping", "p95_ms", 1), "x3": ("pages", "p95_s", 1)}
    for row in SUMMARY["disciplines"]:
        own = [trace for trace in figure["data"] if trace["meta"] == row["label"] and trace["type"] == "bar"]
        assert {trace["marker"]["color"] for trace in own} == {PALETTE[row["id"]].colour}
        for trace in own:
            if trace["xaxis"] not in keys:
                continue
            key, name, scale = keys[trace["xaxis"]]
            found = row["users"][key]
            assert trace["x"] == [pytest.approx(found[name] * scale, rel=1e-4)]
            low, high = found["p95_ci95"]
            [up], [down] = trace["error_x"]["array"], trace["error_x"]["arrayminus"]
            assert trace["x"][0] + up == pytest.approx(high * scale, rel=1e-3)
            assert trace["x"][0] - down == pytest.approx(low * scale, rel=1e-3)


def test_a_percentile_of_what_never_ends_has_no_bar_and_says_so():
    text = page_text(with_users(summary_of(RECORDS), unfinished=("fifo",)), RECORDS)
    own = [trace for trace in figures_in(text)["felt"]["data"] if trace["meta"] == "fifo" and trace["xaxis"] == "x4"]
    assert own[0]["x"] == [0.0] and "error_x" not in own[0] and own[1]["text"] == [" never ends"]
    assert 'data-value="Infinity"><b>never ends</b>' in text


def test_a_measure_without_traffic_has_no_panel_and_no_column():
    summary = with_users(summary_of(RECORDS))
    for row in summary["disciplines"]:
        row["users"]["pages"] = row["users"]["video"] = None
    text = page_text(summary, RECORDS)
    assert len(figures_in(text)["felt"]["grid"]) == 3
    assert "page load" not in body_of(text) and "stalled" not in body_of(text)


def test_without_users_the_means_of_the_classes_lead():
    figure = figures_in(page_text(summary_of(RECORDS), RECORDS))["felt"]
    assert [title.rpartition(" (")[0] for title in figure["grid"]] == ["short flows, mean", "long flows, mean"]


def test_both_directions_are_named_and_the_busier_comes_first():
    for busier, other in (("down", "up"), ("up", "down")):
        summary = SUMMARY | {"links": SUMMARY["links"] | {"busier": busier}}
        body = body_of(page_text(summary, RECORDS))
        table = body[body.index("The link, both directions</h2>") :]
        assert table.index(f">{busier}, ") < table.index(f">{other}, ")
        facts = re.findall(r"<dt>(down|up)(, the busier)?</dt>", body)
        assert facts == [(busier, ", the busier"), (other, "")]


def test_what_is_recommended_is_marked_and_said_where_it_runs():
    body = body_of(TEXT)
    row = re.search(rf'<tr data-discipline="{SUMMARY["recommendation"]["discipline"]}".*?</tr>', body, re.S)[0]
    assert "\u2605" in row and body.count('class="star"') == 1
    assert ">module<br>BPF<" in body and "Runs on:" in body


@pytest.mark.parametrize("kind", ["never_full", "overloaded"])
def test_where_nothing_is_recommended_nothing_is_marked(kind):
    assert 'class="star"' not in body_of(page_text(with_users(summary_of(RECORDS), kind=kind), RECORDS))


def test_means_by_class_stay_further_down():
    body = body_of(TEXT)
    assert body.index("What users feel</h2>") < body.index("Means of short and of long flows</h2>")
    assert all(sentence in body for sentence in SUMMARY["answer"])


def test_the_hosts_and_how_much_depends_on_them_are_told():
    assert "<dt>TCP of the hosts</dt><dd>linux</dd>" in TEXT and "With newreno the answer is the same." in TEXT


def test_sizes_are_in_bytes_and_panels_have_one_scale():
    body = body_of(TEXT)
    assert "MSS packets" not in body and " kB / " in body
    figures = figures_in(TEXT)
    assert figures["mean-by-size"]["layout"]["xaxis"]["title"]["text"] == "flow size (kB)"
    for key in ("queue", "progress"):
        layout = figures[key]["layout"]
        ranges = {tuple(value["range"]) for name, value in layout.items() if name.startswith("yaxis")}
        assert len(ranges) == 1
        most = max(value for trace in figures[key]["data"] for value in trace["y"] if value is not None)
        assert max(ranges)[1] >= most


def test_a_capture_of_udp_alone_gets_its_answer(tmp_path):
    """3 Mbit/s go up over a link of 2.5: the busier direction is up, packets are lost, and no word is of transfers."""
    rows = [(at * 1250 * 8 / 3e6, NEAR, FAR, 4000, 5000, 1250) for at in range(1500)]
    rows += [(0.1 * at, FAR, NEAR, 5000, 4000, 100) for at in range(50)]
    capture = write_udp(tmp_path / "udp.pcap", sorted(rows))
    ended = mayfly_here(
        "whatif", capture, "--rate", "2500kbit", "--buffer", "100", "-d", "fifo,fq_codel", "--out", tmp_path / "out"
    )
    assert ended.status == 0, ended.err
    assumed, answer, *_ = ended.out.splitlines()
    assert assumed.startswith("No round-trip time can be measured in the capture: 40.0 ms is assumed for every flow")
    # Its senders may slow down: neither more rate nor a discipline follows from what they lose here.
    assert answer.startswith("Mayfly cannot yet answer for this traffic: 100.0 % of the bytes are UDP")
    assert "overloaded" not in ended.out and "Buy rate" not in ended.out
    assert "The busier direction is up" in ended.out and "has 1 session of users" in ended.out
    assert "Short transfers" not in ended.out and "hosts of 2012" not in ended.out
    text = (tmp_path / "out" / "report.html").read_text()
    first = text[text.index("<h1>") : text.index("<h2>")]
    assert "The busier direction is up: 2.50 Mbit/s" in first and "`" not in first


@pytest.mark.parametrize(
    ("port", "kind", "share"), [(27_015, "overloaded", 1.0), (443, "unanswered", 0.0)], ids=["game", "perhaps QUIC"]
)
def test_a_game_slows_down_for_no_queue_and_is_no_doubt(port, kind, share, tmp_path):
    """Before: every UDP that is no call counted as what may slow down, and the verdict was withheld."""
    gap_s = 1 / 40
    rows = [(at * gap_s, NEAR, FAR, 4000, port, 80) for at in range(1200)]
    rows += [(at * gap_s + 0.004, FAR, NEAR, port, 4000, 380) for at in range(1200)]
    capture = write_udp(tmp_path / "game.pcap", sorted(rows))
    found = whatif(
        capture, "100kbit", 20, internal=[f"{NEAR}/32"], disciplines="fifo,fq_codel", overrides={"replications": 1}
    ).summary
    assert found["disciplines"][0]["users"]["games"]["count"] == 1
    assert (found["recommendation"]["kind"], found["capture"]["media_share"]) == (kind, share)
    assert (found["expected_errors"] is None) == bool(udp_sentences(found)) == (port == 443)


@pytest.mark.parametrize(
    "rows, told",
    [
        (
            [(0.1 * at, NEAR, "10.0.0.2", 4000, 5000, 900) for at in range(40)],
            "of the bytes pass between hosts of one side",
        ),
        (
            [(0.1 * at + 1_500_000 * (at > 30), NEAR, FAR, 4000 + (at > 30), 5000, 900) for at in range(60)],
            "for 1,500,",
        ),
    ],
    ids=["one side", "clock"],
)
def test_what_makes_a_capture_doubtful_is_told(rows, told, tmp_path):
    rows = rows + [(0.1 * at + 0.05, NEAR, FAR, 4002, 5000, 90) for at in range(20)]
    capture = write_udp(tmp_path / "doubtful.pcap", sorted(rows))
    told_by = []
    for command in (["whatif", capture, "--rate", "10mbit", "--buffer", "100", "-d", "fifo,pie"], ["profile", capture]):
        ended = mayfly_here(*command, "--out", tmp_path / command[0], "--quiet")
        assert ended.status == 0, ended.err
        told_by.append(told in ended.out)
    assert all(told_by)
