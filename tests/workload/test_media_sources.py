"""Calls, films and games: what the sources draw, what runs of them give, what is refused."""

import json

import polars as pl
import pytest
from invocation import line_of, mayfly, refused

from mayfly.comparison.comparison import compare
from mayfly.errors import MayflyError
from mayfly.scenario.scenario import Scenario
from mayfly.simulate.run import named, run_many, workload
from mayfly.workload import applications
from mayfly.workload.connections import connections
from mayfly.workload.lists import ENDLESS_BYTES, flow_list, read_flows, write_flows
from mayfly.workload.mix import offered

GAME = "gaming(duration_s=5, rate_bps=2000000, fps=60, variation=0.15, spread=0.5)"


def scenario(sources, duration="20s", **network):
    given = {"rate": "10mbit", "buffer": 200, **network}
    return Scenario.model_validate({"duration": duration, "network": given, "workload": sources})


def ran(sources, discipline="fifo", **fields):
    (run,) = run_many(scenario(sources, **fields), named(discipline))
    return run


def test_a_call_is_a_flow_each_way_between_two_hosts_of_its_own():
    flows = workload(scenario({"call": [{"calls": 3, "group": "calls", "spread": "1s"}]}))
    assert flows.height == 6 and set(flows["protocol"]) == {"udp"}
    ways = flows.group_by("start_s", maintain_order=True).agg("src", "dst", "direction")
    for src, dst, direction in ways.select("src", "dst", "direction").iter_rows():
        assert sorted(direction) == ["down", "up"] and src == dst[::-1]
    assert flows.select(pl.struct("src", "dst").n_unique()).item() == 6
    assert flows["size_bytes"].unique().to_list() == [ENDLESS_BYTES]


def test_the_pictures_of_all_others_come_down_in_a_meeting():
    flows = workload(scenario({"call": [{"participants": 5, "max_rate": "1mbit"}]}))
    most = {
        way: applications.parsed(text)[1]["max_bps"] for way, text in flows.select("direction", "application").rows()
    }
    assert most == {"down": 4_000_000, "up": 1_000_000}


def test_a_film_is_opened_and_asked_for_by_its_receiver():
    (row,) = workload(scenario({"video": [{"length": "10s", "ladder": ["500kbit"]}]})).to_dicts()
    assert (row["protocol"], row["opened_by"], row["rate_bps"]) == ("tcp", "receiver", None)
    settings = applications.parsed(row["application"])[1]
    assert (settings["segments"], settings["ladder_bps"]) == (3, [500_000])


def test_a_flow_list_with_applications_is_written_and_read_back(tmp_path):
    flows = workload(scenario({"call": [{}], "video": [{}], "gaming": [{}], "permanent": [{}]}))
    for name in ("flows.csv", "flows.parquet"):
        write_flows(flows, tmp_path / name)
        assert read_flows(tmp_path / name).equals(flows)


def test_applications_offer_no_load_that_is_known_beforehand():
    flows = flow_list(pl.DataFrame({"start_s": [0.0, 1.0], "application": [GAME, None], "size_bytes": [None, 1000]}))
    load = offered(flows)
    assert (load["endless_flows"], load["down"]["flows"]) == (1, 1)


@pytest.mark.parametrize(
    ("rate", "level"), [("1mbit", 1), ("2mbit", 2), ("4mbit", 3), ("10mbit", 5)], ids=lambda value: str(value)
)
def test_a_film_alone_has_the_rate_that_the_rule_must_choose(rate, level):
    # 0.9 times the payload of the link, 1460 of 1500 bytes, and less than that for requests: 0.4, 0.8, 1.5, 3, 4.5, 6.
    run = ran({"video": [{}]}, duration="60s", rate=rate)
    assert set(run.segments["level"][8:]) == {level}
    assert run.records["finish_s"][0] is None


def test_no_frame_of_a_game_is_late_or_lost_on_an_idle_link():
    (row,) = compare(scenario({"gaming": [{"rate": "5mbit"}]}), "fifo").summary["disciplines"]
    (game,) = row["media"]["games"]
    assert (game["frames"], game["late"], game["lost"]) == (1200.0, 0.0, 0.0)


def test_a_game_behind_bulk_is_late_under_fifo_and_not_under_fq_codel():
    given = scenario({"gaming": [{"rate": "2mbit"}], "permanent": [{"flows": 2}]}, buffer=200)
    found = {row["id"]: row["media"]["games"][0] for row in compare(given, "fifo,fq_codel").summary["disciplines"]}
    # A queue of 200 packets of 1.2 ms takes 240 ms, half of it 120: longer than 100 ms.
    assert found["fifo"]["late"] > 0.9
    assert found["fq_codel"]["late"] == 0.0 and found["fq_codel"]["delay_p99_ms"] < 50


def test_a_call_alone_comes_to_its_largest_rate_and_sounds_as_well_as_it_can():
    comparison = compare(scenario({"call": [{"max_rate": "1mbit"}]}, duration="60s"), "fifo")
    (row,) = comparison.summary["disciplines"]
    late = comparison.frames.filter(pl.col("sent_s") > 30)
    assert late["target_bps"].unique().to_list() == [1_000_000]
    # A delay of some 25 ms from mouth to ear and no loss: 4.4 of the E-model.
    assert all(call["mos"] == pytest.approx(4.39, abs=0.03) and call["loss"] == 0 for call in row["media"]["calls"])
    assert row["users"]["call"]["from"] == "workload"
    assert row["users"]["call"]["mos"] == pytest.approx(min(call["mos"] for call in row["media"]["calls"]), abs=1e-9)


def test_seeds_draw_other_pictures_and_one_seed_the_same_under_every_discipline():
    given = scenario({"gaming": [{}], "call": [{}]}, duration="5s", rate="50mbit")
    made = ("flow_id", "sent_s", "size_bytes")
    fifo, cake = (run.frames.select(made).sort(made) for run in run_many(given, named("fifo,cake")))
    # On an idle link the rates of the call are the same too.
    assert fifo.equals(cake)
    assert fifo.equals(run_many(given, named("fifo"))[0].frames.select(made).sort(made))
    other = given.model_copy(update={"seed": 2})
    assert not fifo.equals(run_many(other, named("fifo"))[0].frames.select(made).sort(made))


def test_frames_and_segments_are_written_with_their_columns_declared(tmp_path):
    given = scenario({"gaming": [{"rate": "1mbit"}], "video": [{}]}, duration="5s")
    files = compare(given, "fifo,fq_codel").write(tmp_path, report=False)
    from mayfly.simulate.tables import FRAMES, SEGMENTS

    for name, table in (("frames", FRAMES), ("segments", SEGMENTS)):
        frame = pl.read_parquet(files[name])
        assert frame.columns == [column.name for column in table.columns]
        assert set(frame["discipline"]) == {"fifo", "fq_codel"}
    plain = compare(scenario({"permanent": [{}]}, duration="2s"), "fifo").write(tmp_path / "plain", report=False)
    assert not {"frames", "segments"} & plain.keys()


def test_calls_give_way_and_games_do_not():
    classes = ran({"call": [{"group": "a"}], "gaming": [{"rate": "1mbit", "group": "b"}]}, duration="5s")
    samples = classes.samples
    # Every arrival of the game counts as one that does not respond, none of the call.
    udp = {row["group"]: row["arrivals"] for row in classes.classes}
    assert samples["nonresponsive_arrivals"].sum() == pytest.approx(udp["b"], abs=20)


def list_refused(frame):
    with pytest.raises(MayflyError) as caught:
        flow_list(pl.DataFrame({"start_s": [0.0], **{name: [value] for name, value in frame.items()}}))
    (line,) = str(caught.value).splitlines()
    return line


def test_flow_lists_with_applications_that_cannot_be_are_refused_in_one_line():
    assert "must be `NAME(SETTING=VALUE, ...)`" in list_refused({"application": "call"})
    assert "missing field `rate_bps`" in list_refused({"application": "gaming(duration_s=5)"})
    assert "unknown variant `chat`" in list_refused({"application": "chat(duration_s=5)"})
    assert "each setting once" in list_refused({"application": "gaming(fps=1, fps=2)"})
    assert "gaming: fps = 0: must be from 1 to 1000" in list_refused({"application": GAME.replace("fps=60", "fps=0")})
    assert "unknown field `sped`" in list_refused({"application": GAME.replace("spread", "sped")})
    assert "protocol = tcp: must be that of its application" in list_refused({"application": GAME, "protocol": "tcp"})
    assert "size_bytes = 5: must be 2^40 or empty" in list_refused({"application": GAME, "size_bytes": 5})
    assert "script = down 5: must be empty beside" in list_refused({"application": GAME, "script": "down 5"})


@pytest.mark.parametrize(
    ("section", "fields", "told"),
    [
        ("call", {"participants": 1}, "greater than or equal to 2"),
        ("call", {"min_rate": "2mbit", "max_rate": "1mbit", "start_rate": "1500kbit"}, "max_bps = 1000000"),
        ("call", {"start_rate": "5mbit"}, "start_bps = 5000000: must be from min_bps to max_bps"),
        ("call", {"fps": 0, "speech": 0}, "fps = 0: must be above 0 in a call without speech"),
        ("call", {"start": "30s"}, "start_s = 30.0"),
        ("video", {"ladder": ["2mbit", "1mbit"]}, "must ascend"),
        ("video", {"ladder": []}, "ladder"),
        ("video", {"buffer": "6s"}, "buffer = 6 s: must be at least a segment and the longest"),
        ("video", {"rule": "mpc"}, "throughput"),
        ("gaming", {"pace": 1.5}, "less than or equal to 1"),
        ("gaming", {"fps": 0}, "greater than or equal to 1"),
    ],
)
def test_sections_that_cannot_be_are_refused(section, fields, told):
    with pytest.raises((MayflyError, ValueError)) as caught:
        workload(scenario({section: [fields]}))
    assert told in str(caught.value)


def test_the_command_refuses_in_one_line_with_status_2(tmp_path):
    path = tmp_path / "flows.csv"
    path.write_text('start_s,application\n0,"gaming(duration_s=5, rate_bps=1, fps=60, variation=0.1, spread=0)"\n')
    line = refused("compare", "wired", "--flows", path, "--out", tmp_path / "out")
    assert "row 1: application: " in line and "gaming: rate_bps = 1: must be from 5 kbit/s to 10 Gbit/s" in line
    assert not (tmp_path / "out").exists()


def test_the_linux_engine_says_that_it_has_no_applications():
    from mayfly.engines import linux

    flows = flow_list(pl.DataFrame({"start_s": [0.0], "application": [GAME]}))
    with pytest.raises(MayflyError, match="--engine linux has no applications in the loop"):
        linux.refuse_flows(scenario({"gaming": [{}]}), flows)


def test_the_summary_is_plain_json():
    found = compare(scenario({"call": [{}], "video": [{}], "gaming": [{}]}, duration="5s"), "fifo").summary
    assert json.loads(json.dumps(found, allow_nan=False))["disciplines"][0]["media"]["games"][0]["streams"] == 1


CELL = {"wlan": {"stations": 4}}
GRAPH = {
    "topology": "graph",
    "link": [{"from": "a", "to": "b", "rate": "6mbit"}, {"from": "b", "to": "c", "rate": "4mbit"}],
    "hosts": [{"at": "a", "name": "senders", "count": 4}, {"at": "c", "name": "receivers", "count": 4}],
}


@pytest.mark.parametrize("network", [CELL, GRAPH], ids=["cell", "graph"])
def test_they_run_in_every_kind_of_network(network):
    sources = {"call": [{}], "video": [{}], "gaming": [{"rate": "1mbit"}]}
    given = Scenario.model_validate({"duration": "10s", "network": network, "workload": sources})
    media = compare(given, "fifo").summary["disciplines"][0]["media"]
    assert all(call["rate_mbps"] > 0.09 for call in media["calls"])
    assert media["films"][0]["startup_s"] is not None and media["games"][0]["delay_p50_ms"] > 0


def test_a_run_with_them_is_recorded_and_read_back(tmp_path):
    path = tmp_path / "run.pcap"
    given = tmp_path / "given.toml"
    given.write_text(
        'duration = "5s"\n[network]\nrate = "10mbit"\n'
        '[[workload.call]]\n[[workload.video]]\n[[workload.gaming]]\nrate = "1mbit"\n'
    )
    done = mayfly("simulate", given, "--discipline", "fifo", "--pcap", path, "--out", tmp_path / "out")
    assert done.status == 0, done.err
    found, _ = connections(path)
    # The film, both ways of the call with their reports, and the game without any.
    assert found["protocol"].sort().to_list() == ["tcp", "udp", "udp", "udp"]
    sent, back = (sorted(found.filter(protocol="udp")[f"{end}_packets"]) for end in ("opener", "responder"))
    flows = pl.read_parquet(tmp_path / "out" / "flows.parquet").filter(protocol="udp")
    assert sum(sent) + sum(back) >= flows["packets_sent"].sum() and sum(count > 0 for count in back) == 2


def test_more_frames_than_fit_into_memory_are_refused_before_they_are_made(tmp_path):
    given = tmp_path / "given.toml"
    given.write_text('duration = "1h"\n[network]\nrate = "100gbit"\n[[workload.gaming]]\nflows = 100\n')
    arguments = ("--memory", "1gb", "compare", given, "--disciplines", "fifo,las", "--out", tmp_path / "out")
    line = line_of(mayfly(*arguments), arguments)
    assert "frames of calls and games take" in line and "the command has 1 GB of memory" in line
