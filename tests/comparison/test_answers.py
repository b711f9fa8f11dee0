"""From a capture to an answer, and figures that could not be."""

import gzip
import html
import json
import re
import struct
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from invocation import mayfly_here

import mayfly
from mayfly import _native
from mayfly.comparison.as_loaded import Loading
from mayfly.comparison.notebook import shown
from mayfly.comparison.overview import legend, loaded_table, users_table
from mayfly.comparison.recommendation import criteria_values
from mayfly.comparison.replay import replay_of
from mayfly.comparison.session_bootstrap import HoursRun, hour_row, plain
from mayfly.comparison.text import answer_lines
from mayfly.comparison.user_metrics import MEASURES
from mayfly.metrics.users import Rule
from mayfly.show.terminal import drawn
from mayfly.simulate import probes
from mayfly.simulate.resampled import ResampledHours
from mayfly.simulate.run import named

CAPTURES = Path(__file__).parents[2] / "captures"
OFFICE = CAPTURES / "office.pcap.gz"
FEW = ["fifo", "fq_codel", "efd"]


@pytest.fixture(scope="module")
def office():
    return mayfly.whatif(OFFICE, "10mbit", 300, internal=["10.10.0.0/24"], disciplines=FEW)


def shared(name):
    found = next((up / "shared/data/pcap" / name for up in Path(__file__).parents if (up / "shared").is_dir()), None)
    if found is None or not found.exists():
        pytest.skip(f"{name} is not beside the checkout")
    return found


def test_the_office_is_told_to_use_what_its_kernel_has(office):
    found = office.summary["recommendation"]
    assert (found["kind"], found["discipline"], found["runs_on"]) == ("use", "fq_codel", ["kernel"])
    shaped = "--both-ways --down 9500kbit --up 9500kbit --discipline fq_codel --buffer 300"
    assert found["command"] == f"mayfly qdisc load eth0 {shaped}"
    assert any("ping under load" in text for text in found["gives"])
    assert found["commands"]["up"][1].endswith("root handle 6d66: htb default 1")
    assert "fq_codel limit 300 target 5000us" in found["commands"]["up"][-1]


def test_what_the_command_gives_is_simulated_where_it_puts_the_discipline(office):
    """Before: the answer promised the ping of a discipline at the link itself. What arrives waits in a FIFO first."""
    found = office.summary["recommendation"]
    (loaded, *others), rows = found["as_loaded"], {row["label"]: row["users"] for row in office.summary["disciplines"]}
    assert loaded["discipline"] == found["discipline"] == "fq_codel"
    assert len(others) <= 2 and all(one["discipline"] != "fq_codel" for one in others)
    fifo, at_the_link = (rows[label]["ping"]["p95_ms"] / 1e3 for label in ("fifo", "fq_codel"))
    assert 1.3 * at_the_link < loaded["figures"]["ping_p95"] < 0.5 * fifo
    # The first sentence says what its command gives, a later one what the discipline gives at the link.
    share = round(100 * rows["fifo"]["ping"]["busy_share"])
    ping = f"ping under load ({share} % of the time) {1e3 * fifo:.0f} -> {1e3 * loaded['figures']['ping_p95']:.1f} ms"
    assert f"With this command: {ping} [" in found["sentence"] and found["gives"][0].startswith(f"{ping} [")
    assert found["at_the_link"].startswith("Where eth0 is itself the bottleneck, fq_codel gives: ")
    assert f" {1e3 * fifo:.0f} -> {1e3 * at_the_link:.1f} ms [" in found["at_the_link"]
    assert (found["commands"]["down_bps"], found["commands"]["up_bps"]) == (9_500_000, 9_500_000)
    # Packets of data come down, acknowledgements go up; none is shorter than 40 bytes or longer than 1514.
    down, up = loaded["packets_per_s"]["down"], loaded["packets_per_s"]["up"]
    assert 9.5e6 / 8 / 1514 <= down < up < 9.5e6 / 8 / 40
    lines = [line for line in answer_lines(office.summary) if line]
    assert lines[0] == found["sentence"] and lines[2].startswith(found["at_the_link"])
    assert lines[2].endswith(f"No shaper is needed then: `{found['commands']['line']}`")
    assert any(f"forwards at most {round(down):,} down and {round(up):,} up packets/s" in line for line in lines)


def test_tables_say_where_the_disciplines_are_and_have_the_command_next_to_them(office, tmp_path):
    """Before: the first sentence was of the command, and the tables below it, of the link, said so in one place."""
    (loaded, *others) = office.summary["recommendation"]["as_loaded"]
    rows = [[cell.text for cell in row] for row in users_table(office.summary).cells()]
    heads = [measure.id for measure in MEASURES if measure.head]
    assert [row[0] for row in rows] == ["  fifo", "* fq_codel", "  command", "  efd"]
    ping = rows[2][1 + heads.index("ping_p95")]
    assert ping == f"{1e3 * loaded['figures']['ping_p95']:.1f} ms" != rows[1][1 + heads.index("ping_p95")]
    where = "Each discipline is at the link itself here; the first sentence"
    assert any(text.startswith(where) for text in legend(office.summary))
    assert any(isinstance(said, str) and said.startswith(where) for said in shown(office.summary))
    table = loaded_table(office.summary)
    assert [row[0].text for row in table.cells()] == [loaded["discipline"], *(one["discipline"] for one in others)]
    office.write(tmp_path)
    report = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert report.count(where) == 2 and "What users feel with the command" in report
    single = mayfly.compare("wired", "fifo,efd", flows=pl.DataFrame({"start_s": [0.0], "size_packets": [10]})).summary
    assert loaded_table(single) is None and not any(text.startswith(where) for text in legend(single))


def test_chance_of_the_command_is_that_of_its_own_hours(office):
    """Before: the hours at the link, moved, decided, and no interval was printed."""
    found, hours = office.summary["recommendation"], office.summary["resampling"]["hours"]
    loaded, *others = found["as_loaded"]
    assert loaded["hours"] == hours >= 6 and all((one["hours"], one["ci95"]) == (0, {}) for one in others)
    for id, (low, high) in loaded["ci95"].items():
        assert low <= loaded["figures"][id] <= high
    link = office.summary["disciplines"][1]["users"]["ping"]
    # What waits at the provider depends on the hour; a fair queue at the link holds the ping where it is.
    (low, high), (at_link, most) = loaded["ci95"]["ping_p95"], link["p95_ci95"]
    assert high / low > 1.5 > 1.2 > most / at_link
    assert "Those of the first sentence are from the same hours, run with the command." in legend(office.summary)
    single = mayfly.whatif(
        OFFICE, "10mbit", 300, internal=["10.10.0.0/24"], disciplines=FEW, overrides={"replications": 1}
    )
    assert not any(one["hours"] for one in single.summary["recommendation"]["as_loaded"])
    assert not any("first sentence are from the same" in text for text in legend(single.summary))


def test_hours_with_the_command_are_those_at_the_link():
    """The same draws: a shaper that is wide and empty changes nothing but where the discipline is."""
    internal = ["10.10.0.0/24"]
    prepared = replay_of(OFFICE, "10mbit", 300, internal=internal, overrides={"replications": 2})
    chosen = named(["fifo", "fq_codel"])
    at_link = ResampledHours(plain(prepared.scenario), chosen, prepared.flows)
    rule = Rule(above=True)
    rows = {number: [hour_row(run, rule) for run in at_link.run(number)] for number in (2, 5)}
    criteria = {one.label: criteria_values([rows[number][at] for number in (2, 5)]) for at, one in enumerate(chosen)}
    loading = Loading(
        prepared.scenario, prepared.flows, prepared.flows, chosen, rule, HoursRun(True, [2, 5], criteria), None, None
    )
    rates = {"down": 10**9, "up": 10**9}
    (one,) = loading.run(["fq_codel"], rates)
    whole = loading.resampled(one, "fifo", rates)
    assert whole.hours == 2 and whole.there["short_p95"] == [values["short_p95"] for values in criteria["fifo"]]
    # A shaper that never holds anything leaves the FIFO of the link in both directions.
    assert whole.row["resampled"]["short_p95"] == pytest.approx(whole.there["short_p95"], rel=1e-3)
    assert len(set(whole.there["short_p95"])) == 2 and whole.row["resampled"].keys() == whole.there.keys()
    assert loading.resampled(one, "fifo", rates) == whole
    stopped = replace(loading, stop=lambda: True)
    assert stopped.resampled(one, "fifo", rates) is None and stopped.run(["fq_codel"], rates) == []


@pytest.mark.parametrize(
    ("shaper", "rates", "where"),
    [
        ({"share": 0.8}, "--down 8mbit --up 8mbit", "before the link down and before the link up"),
        (
            {"rate": "7mbit", "reverse_rate": "2mbit", "place": "behind", "reverse_place": "before"},
            "--down 7mbit --up 2mbit",
            "behind the link down and before the link up",
        ),
        ({"rate": "6mbit", "ways": "down"}, "--down 6mbit --up 9500kbit", "there, before the link down."),
    ],
    ids=["share", "rates", "one way"],
)
def test_the_command_shapes_to_what_the_scenario_shapes_to(shaper, rates, where):
    """Before: 95 % of the link's rates, whatever `network.shaper` had in the runs."""
    found = mayfly.whatif(
        OFFICE,
        "10mbit",
        300,
        internal=["10.10.0.0/24"],
        disciplines=["fifo", "fq_codel"],
        overrides={"network.shaper": shaper, "replications": 1},
    ).summary
    advice = found["recommendation"]
    assert f"--both-ways {rates} --discipline fq_codel" in advice["command"]
    assert (advice["commands"]["down_bps"], found["links"]["down"]["rate_bps"]) == (
        found["links"]["down"]["shaper"]["rate_bps"],
        10**7,
    )
    said = " ".join(answer_lines(found))
    assert "It shapes to the rates of [network.shaper]" in said and where in said
    assert "95 % of the link" not in said and "was not simulated" not in said


def test_no_fixed_rate_is_advised_where_a_controller_moves_it():
    found = mayfly.whatif(
        OFFICE,
        "10mbit",
        300,
        internal=["10.10.0.0/24"],
        disciplines=["fifo", "fq_codel"],
        overrides={"network.shaper": {"controller": "autorate"}, "replications": 1},
    ).summary
    advice = found["recommendation"]
    assert found["links"]["down"]["shaper"]["rate_bps"] is None
    assert advice["kind"] != "use" or "--down" not in advice["command"]


def test_no_command_no_run_of_it(office):
    never = mayfly.whatif(OFFICE, "1gbit", 300, internal=["10.10.0.0/24"], disciplines=FEW)
    assert never.summary["recommendation"]["kind"] == "never_full"
    assert never.summary["recommendation"]["as_loaded"] == []


def test_report_and_notebook_have_the_lines_of_tc_and_what_they_give(office, tmp_path):
    office.write(tmp_path)
    report = html.unescape((tmp_path / "report.html").read_text(encoding="utf-8"))
    found = office.summary["recommendation"]
    for line in (*found["commands"]["up"], *found["commands"]["down"]):
        assert line in report, line
    assert found["at_the_link"].replace("->", "→") in report
    assert any(found["at_the_link"] in said for said in shown(office.summary) if isinstance(said, str))


@pytest.mark.parametrize(
    ("in_front", "overhead_bytes"),
    [(b"\x81\x00\x00\x0a\x08\x00", 22), (b"\x88\xa8\x00\x0a\x81\x00\x00\x0a\x08\x00", 26)],
    ids=["vlan", "two tags"],
)
def test_vlan_tags_are_named_in_the_command(tmp_path, in_front, overhead_bytes):
    """Linux does not count them at the interface: they are not in the packet when it is queued."""
    path = tmp_path / "framed.pcap"
    path.write_bytes(framed(gzip.decompress(OFFICE.read_bytes()), in_front))
    found = mayfly.whatif(
        path, "10mbit", 300, internal=["10.10.0.0/24"], disciplines=["fifo", "cake"], overrides={"replications": 1}
    ).summary
    assert (found["capture"]["overhead_bytes"], found["capture"]["translated"]) == (overhead_bytes, True)
    assert found["recommendation"]["command"].endswith(f" --overhead {overhead_bytes}")
    commands = found["recommendation"]["commands"]
    for way, words in (("up", "nat egress"), ("down", "nat ingress")):
        (line,) = (line for line in commands[way] if " cake " in line)
        assert f" besteffort overhead {overhead_bytes} {words} " in line


@pytest.mark.parametrize(
    "in_front",
    [b"\x88\x64\x11\x00\x00\x05\x00\x00\x00\x21", b"\x88\x47\x00\x01\x01\x40", 62 * b"\x81\x00\x00\x0a" + b"\x08\x00"],
    ids=["pppoe", "mpls", "more tags than a shaper counts"],
)
def test_what_linux_counts_or_no_shaper_can_is_not_in_the_command(tmp_path, in_front):
    path = tmp_path / "framed.pcap"
    path.write_bytes(framed(gzip.decompress(OFFICE.read_bytes()), in_front))
    found = mayfly.whatif(
        path, "10mbit", 300, internal=["10.10.0.0/24"], disciplines=["fifo", "cake"], overrides={"replications": 1}
    ).summary
    assert found["capture"]["overhead_bytes"] == 0 and "--overhead" not in found["recommendation"]["command"]


def test_rates_that_were_guessed_have_the_digits_of_a_guess():
    said = mayfly.whatif(OFFICE, disciplines=["fifo", "fq_codel"], overrides={"replications": 1}).summary
    commands = said["recommendation"]["commands"]
    assert all(len(str(commands[rate]).rstrip("0")) <= 3 for rate in ("down_bps", "up_bps")), commands
    assert said["guess"]["down"]["rate_bps"] not in (commands["down_bps"], None)


def test_plain_frames_are_not_named_and_public_hosts_are_not_translated(office, tmp_path):
    assert (office.summary["capture"]["overhead_bytes"], office.summary["capture"]["translated"]) == (0, True)
    path = tmp_path / "public.pcap"
    data = gzip.decompress(OFFICE.read_bytes())
    # 10.10.0.0/16 becomes 198.10.0.0/16 in every header; checksums are not read.
    path.write_bytes(framed(data, b"\x08\x00", lambda ip: ip.replace(b"\x0a\x0a\x00", b"\xc6\x0a\x00")))
    found = mayfly.whatif(
        path, "10mbit", 300, internal=["198.10.0.0/24"], disciplines=["fifo", "cake"], overrides={"replications": 1}
    ).summary
    assert found["capture"]["translated"] is False
    assert found["recommendation"]["command"].endswith(" --no-nat")
    assert all(" nonat " in line for line in (*found["recommendation"]["commands"]["up"],) if " cake " in line)


def framed(data, in_front, changed=bytes):
    """A pcap of plain Ethernet with other bytes between its addresses and IP, and another header of IP."""
    parts, at = [data[:24]], 24
    while at < len(data):
        seconds, fraction, length, whole = struct.unpack_from("<IIII", data, at)
        frame = data[at + 16 : at + 16 + length]
        at += 16 + length
        if frame[12:14] == b"\x08\x00":
            frame = frame[:12] + in_front + changed(frame[14:34]) + frame[34:]
            whole += len(in_front) - 2
        parts.append(struct.pack("<IIII", seconds, fraction, len(frame), whole) + frame)
    return b"".join(parts)


def test_one_run_of_the_office_gets_the_same_advice_as_sixteen_hours(office):
    """Before: one run said efd, a module, and sixteen hours fq_codel, which is in the kernel."""
    alone = mayfly.whatif(OFFICE, "10mbit", 300, internal=["10.10.0.0/24"], overrides={"replications": 1})
    assert alone.summary["recommendation"]["discipline"] == office.summary["recommendation"]["discipline"]


def test_a_comparison_of_a_synthetic_workload_gives_no_advice():
    found = mayfly.compare("wired", "fifo,las,efd").summary["recommendation"]
    assert found["kind"] == "fastest" and found["sentence"].startswith("Fastest here: ")
    assert "Use " not in found["sentence"] and "`" not in found["sentence"]


def test_the_intervals_are_those_of_resampled_hours(office):
    resampling = office.summary["resampling"]
    count = resampling["hours"]
    assert (resampling["hosts"], resampling["gap_s"], resampling["most"]) == (6, 5.0, 16)
    row = office.summary["disciplines"][0]
    assert len(row["resampled"]["short_p95"]) == count
    low, high = row["users"]["short"]["p95_ci95"]
    assert low < row["users"]["short"]["p95_s"] < high
    assert any(
        f"from {count} hours like this one, drawn from its 33 sessions of 6 hosts" in text
        for text in legend(office.summary)
    )


def test_hours_end_when_more_would_not_change_the_choice(office):
    resampling = office.summary["resampling"]
    assert resampling["settled"] and resampling["hours"] in (6, 8, 10, 12, 14)
    assert any(
        "More would hardly change what is recommended; `--replications 16` draws 16" in text
        for text in legend(office.summary)
    )
    fixed = {"replications": 16}
    whole = mayfly.whatif(OFFICE, "10mbit", 300, internal=["10.10.0.0/24"], disciplines=FEW, overrides=fixed).summary
    assert (whole["resampling"]["hours"], whole["resampling"]["settled"]) == (16, False)
    assert not any("hardly change" in text for text in legend(whole))
    # The same hours, and then more.
    for row, other in zip(office.summary["disciplines"], whole["disciplines"], strict=True):
        for id, values in row["resampled"].items():
            assert other["resampled"][id][: len(values)] == values
    chosen = [summary["recommendation"] for summary in (office.summary, whole)]
    assert chosen[0]["discipline"] == chosen[1]["discipline"] and chosen[0]["kind"] == chosen[1]["kind"]


def test_one_discipline_alone_gets_all_hours():
    """There is nothing to choose, and the hours are for the intervals."""
    fields = {"duration": "10s"}
    found = mayfly.whatif(OFFICE, "10mbit", 300, disciplines="fifo", overrides=fields).summary
    assert found["recommendation"] is None and found["resampling"]["hours"] == 16


def test_the_same_capture_has_the_same_answer(office):
    again = mayfly.whatif(
        OFFICE, "10mbit", 300, internal=["10.10.0.0/24"], disciplines=FEW, overrides={"replications": 1}
    )
    rows = zip(office.summary["disciplines"], again.summary["disciplines"], strict=True)
    # Hours stand beside the capture's own run and do not move it.
    assert all(one["short"]["mean_s"] == other["short"]["mean_s"] for one, other in rows)
    assert again.summary["resampling"]["hours"] == 0
    assert again.summary["recommendation"]["doubt"]


def test_a_tenth_of_the_rate_is_an_overload():
    few = {"replications": 1}
    # Whose users do not wait: those who do ask for less.
    inside = ["10.10.0.0/24"]
    found = mayfly.whatif(
        OFFICE, "1mbit", 300, internal=inside, replay="transfers", disciplines=["fifo", "cake"], overrides=few
    ).summary["recommendation"]
    assert found["kind"] == "overloaded"
    assert "Buy rate or shed load first" in found["sentence"]


def test_a_home_whose_link_is_never_full_needs_nothing():
    few = {"replications": 1}
    capture = shared("access_home_alexa.pcap.gz")
    found = mayfly.whatif(capture, "10mbit", 300, disciplines=["fifo", "fq_codel"], overrides=few).summary
    assert found["recommendation"]["kind"] == "never_full"
    assert found["recommendation"]["sentence"].startswith("This link is never full (0.38 % used")


def test_a_speed_test_offers_what_it_sent_while_it_ran():
    # It offered 2,294,594 Mbit/s when the span was that of the starts.
    capture = shared("ndt_speedtest_v6.pcap.gz")
    found = mayfly.whatif(capture, "10mbit", 300, disciplines=["fifo"], overrides={"replications": 1}).summary
    assert 10 < found["workload"]["offered_mbps"] < 200


def test_the_relative_delay_is_over_the_round_trip_times_of_the_flows(office):
    # It was over the 0.24 ms of the frame: 481.
    row = office.summary["disciplines"][0]
    mean_rtt_s = office.records.filter(discipline="fifo")["rtt_s"].mean()
    assert mean_rtt_s == pytest.approx(0.0271, rel=0.05)
    assert row["queueing_delay"]["relative"] == pytest.approx(row["queueing_delay"]["mean_s"] / mean_rtt_s)


def test_flows_without_end_are_not_unfinished_and_have_no_size():
    # They were 2.20 TB that stay unfinished.
    flows = pl.DataFrame({"start_s": [0.0, 0.0], "size_bytes": [2**40, 1000]})
    scenario = mayfly.load_scenario("wired", {"duration": "2s"})
    [row] = mayfly.run(scenario, "fifo", flows).summary["disciplines"]
    assert (row["flows_endless"], row["unfinished_bytes"]) == (1, 0)


def test_titles_hold_nothing_that_an_option_changes():
    # `--set network.buffer=50` stood above "300 packets, 8 Mb/s offered".
    for file in (Path(mayfly.__file__).parent / "scenarios").glob("*.toml"):
        title = mayfly.load_scenario(file.stem).title
        assert not re.search(r"\d (packets|Mb/s|stations)| offered", title), (file.stem, title)


def test_a_clock_that_jumps_is_named():
    capture = shared("tcptrace_http.dmp.gz")
    with pytest.raises(
        mayfly.MayflyError, match=r"its flows span 4\.1 years, 4\.1 of them without any: .* a clock that jumped"
    ):
        mayfly.whatif(capture, "10mbit", 300)


def test_the_terminal_begins_with_the_answer_and_fits(tmp_path):
    arguments = ["whatif", OFFICE, "--rate", "10mbit", "--buffer", "300", "--internal", "10.10.0.0/24", "-n", "1"]
    done = mayfly_here(*arguments, "-d", "fifo,fq_codel", "--out", tmp_path / "out", "-q", env={"COLUMNS": "80"})
    assert done.status == 0, done.err
    lines = done.out.splitlines()
    assert lines[0].startswith("Use fq_codel: it is in your kernel. ")
    table = lines[lines.index("") + 1 : next(at for at, line in enumerate(lines) if line.startswith("Short transfers"))]
    assert max(map(len, table)) <= 80
    assert any(line.startswith("* fq_codel") for line in table)
    assert not any("flow table" in line for line in table)
    found = json.loads((tmp_path / "out" / "summary.json").read_text())["recommendation"]
    assert lines[0] == found["sentence"]


def test_sixty_columns_get_the_table_in_parts(office):
    import io

    from rich.console import Console

    stream = io.StringIO()
    Console(file=stream, width=60, color_system=None).print(drawn(users_table(office.summary)))
    lines = stream.getvalue().splitlines()
    assert max(map(len, lines)) <= 60
    assert sum(line.startswith("* fq_codel") for line in lines) >= 2


def test_columns_asks_for_the_flow_table(tmp_path):
    arguments = ["compare", "wired", "-d", "fifo,efd", "--duration", "5s", "--out", tmp_path / "out", "-q"]
    assert "flow table" in mayfly_here(*arguments, "--columns", env={"COLUMNS": "80"}).out
    assert "flow table" not in mayfly_here(*arguments, env={"COLUMNS": "80"}).out


def test_means_with_think_times_stand_in_the_details_only(tmp_path):
    # "short transfers p95" of 232 ms above a mean of "short flows" of 690 ms.
    arguments = ["whatif", OFFICE, "--rate", "10mbit", "--buffer", "300", "-n", "1", "-d", "fifo,fq_codel", "-q"]
    plain = mayfly_here(*arguments, "--out", tmp_path / "out", env={"COLUMNS": "100"})
    assert "Mean response time" not in plain.out and "short flows" not in plain.out
    assert "The link and its queue" in plain.out and "In means, long are" not in plain.out
    detailed = mayfly_here(*arguments, "--details", "--out", tmp_path / "out", env={"COLUMNS": "100"})
    assert "Mean of whole connections, think times included [95 % CI]" in detailed.out
    assert "short flows" in detailed.out and "In means, long are" in detailed.out
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert all(row["short"]["mean_s"] > 0.3 for row in summary["disciplines"])
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert "How long a connection of a given size takes on average" in page
    assert "<h2>Means of whole connections, think times included</h2>" in page
    transfers = mayfly_here(*arguments, "--replay", "transfers", "--out", tmp_path / "out", env={"COLUMNS": "100"})
    assert "Mean response time [95 % CI]" in transfers.out


def test_the_load_is_said_and_a_share_of_nothing_has_no_column(office):
    rows = office.summary["disciplines"]
    told = legend(office.summary)
    assert any("are taken while the link is busy, " in text and " % of the time under fifo: " in text for text in told)
    # The office has a stream of video that never stalls, under no discipline.
    assert all(row["users"]["video"]["stalled_share"] == 0 for row in rows)
    assert any(text.startswith("Under every discipline no video stalls") for text in told)
    heads = users_table(office.summary).heads
    assert not any("video" in head for head in heads)


def test_the_idle_ping_is_simulated_once_for_all_disciplines_and_hours(monkeypatch):
    native, alone = _native.run, []

    def spied(settings, flows, *more):
        alone.extend([1] if len(flows["start_ns"]) == 1 else [])
        return native(settings, flows, *more)

    monkeypatch.setattr(_native, "run", spied)
    monkeypatch.setattr(probes, "_IDLE", {})
    result = mayfly.whatif(OFFICE, "20mbit", 300, disciplines=FEW, overrides={"replications": 3, "duration": "30s"})
    assert result.summary["resampling"]["hours"] == 3 and len(alone) == 1
    idle = {row["users"]["ping"]["idle_ms"] for row in result.summary["disciplines"]}
    assert len(idle) == 1 and idle.pop() == pytest.approx(35.1, abs=0.2)
