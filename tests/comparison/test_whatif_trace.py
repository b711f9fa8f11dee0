"""`mayfly whatif --link-trace`."""

from pathlib import Path

import pytest

pytest.importorskip("mayfly._native", reason="the compiled module is not built")

from mayfly.comparison.text import answer_lines
from mayfly.comparison.whatif import whatif
from mayfly.errors import MayflyError

ROOT = Path(__file__).parents[2]
CAPTURE = ROOT / "captures" / "office.pcap.gz"
STEPS = ROOT / "tests" / "data" / "steps.csv"


def test_a_capture_is_replayed_over_a_link_that_varies(tmp_path):
    up = tmp_path / "up.csv"
    up.write_text("time_s,rate_mbps\n0,2\n1,4\n")
    result = whatif(
        CAPTURE,
        buffer=300,
        internal=["10.10.0.0/24"],
        link_trace=STEPS,
        link_trace_up=up,
        disciplines="fifo,fq_codel",
        overrides={"replications": 1},
    )
    links = result.summary["links"]
    assert links["down"]["rate_bps"] == 4_000_000 and links["up"]["rate_bps"] == 3_000_000
    assert links["down"]["trace"]["outages"] == 1 and links["up"]["trace"]["outages"] == 0
    assert links["down"]["load"] == pytest.approx(links["down"]["offered_mbps"] / 4.0)
    assert result.samples["link_rate_bps"].null_count() == 0
    # A constant shaper is no advice for such a link.
    said = " ".join(answer_lines(result.summary))
    assert "--rate" not in said and ("varies" in said or "commands" not in str(result.summary["recommendation"]))
    page = result.write(tmp_path / "out")["report"]
    assert "Rate of the link" in Path(page).read_text()


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"rate": "10mbit", "link_trace": STEPS}, "rate 10mbit: must be left out with link_trace"),
        ({"link_trace_up": STEPS}, "must be given with link_trace"),
        ({"link_trace": "nowhere.csv"}, "nowhere.csv: not a trace of a link"),
    ],
)
def test_what_cannot_be_is_refused(options, says):
    with pytest.raises(MayflyError, match=says):
        whatif(CAPTURE, buffer=300, **options)
