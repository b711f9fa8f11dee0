"""Rules of the congestion window by group of flows."""

import pytest

from mayfly import MayflyError, load_scenario, run

BOTH = [{"flows": 10, "spread": "1s", "group": "smooth"}, {"flows": 10, "spread": "1s", "group": "plain"}]
SETTINGS = {"duration": "20s", "warm_up": "0s", "workload.permanent": BOTH, "workload.cbr": [], "tcp.recovery": "sack"}


def records(**tcp):
    scenario = load_scenario("red-ns2", SETTINGS | {f"tcp.{name}": value for name, value in tcp.items()})
    return run(scenario, "red(min_th=15,max_th=45)").records.drop("cwnd_mean_packets")


def test_a_rule_given_to_every_group_is_the_rule_of_the_run():
    for rule in ("iiad", "sqrt", "cubic"):
        assert records(congestion_of={"smooth": rule, "plain": rule}).equals(records(congestion=rule))


def test_a_rule_of_one_group_changes_both_and_differs_from_either_pure_run():
    mixed = records(congestion_of={"smooth": "iiad"})
    assert not any(mixed.equals(records(congestion=rule)) for rule in ("aimd", "iiad"))


def test_bbr_is_mixed_with_windows():
    mixed = records(congestion_of={"smooth": "bbr"})
    assert not any(mixed.equals(records(congestion=rule)) for rule in ("aimd", "bbr"))
    assert (mixed["delivered_bytes"] > 0).all()


def test_what_cannot_be_is_refused_by_group():
    of = r"tcp\.congestion_of\.smooth: tcp\.congestion = bbr: must be used with tcp\.recovery = sack"
    with pytest.raises(MayflyError, match=of):
        records(congestion_of={"smooth": "bbr"}, recovery="newreno")
    with pytest.raises(
        MayflyError, match=r"tcp\.congestion_of = 'none': must be a group of the flows; groups are plain, smooth"
    ):
        records(congestion_of={"none": "iiad"})
    with pytest.raises(MayflyError, match="congestion_of"):
        records(congestion_of={"smooth": "vegas"})
