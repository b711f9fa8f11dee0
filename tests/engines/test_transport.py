"""The section [tcp] in the kernel's terms."""

import pytest

from mayfly.engines.transport import CONSTANT, own_transport, transport_of
from mayfly.errors import MayflyError
from mayfly.scenario.transport import OwnTransport, Tcp, merged


def test_the_preset_of_its_release_is_what_the_kernel_does():
    found = transport_of(Tcp(preset="linux-6.1"))
    assert found.other == ["tcp.tick = 0.004 (0.01)", "tcp.fin_on_data = false (true)"]
    assert (found.route, found.window_bytes) == ("initcwnd 10 rto_min 200ms", 0)
    assert (found.mtu_bytes, found.overhead_bytes, found.congestion) == (1500, -14, "cubic")
    assert found.sysctl["net.ipv4.tcp_sack"] == found.sysctl["net.ipv4.tcp_timestamps"] == "1"
    assert found.module_parameters == {"tcp_cubic/hystart": "1"}


def test_settings_of_a_time_before_are_those_that_the_kernel_can_have():
    found = transport_of(Tcp(preset="qualnet-4.5-like"))
    assert (found.route, found.window_bytes) == ("initcwnd 3 rto_min 1000ms", 62_780)
    assert (found.mtu_bytes, found.congestion) == (1500, "reno")
    assert {found.sysctl[f"net.ipv4.tcp_{name}"] for name in ("sack", "recovery", "timestamps", "ecn")} == {"0"}
    assert "tcp.initial_rto = 3 (1)" in found.other and "tcp.delayed_ack = 0.2 (0.04)" in found.other


@pytest.mark.parametrize(("recovery", "sack", "rack"), [("linux", "1", "1"), ("linux-without-sack", "0", "1")])
def test_recovery_of_linux_is_that_of_the_kernel_with_a_peer_that_has_sack_or_not(recovery, sack, rack):
    found = transport_of(Tcp(preset="linux-6.1", recovery=recovery))
    assert (found.sysctl["net.ipv4.tcp_sack"], found.sysctl["net.ipv4.tcp_recovery"]) == (sack, rack)
    assert found.other == ["tcp.tick = 0.004 (0.01)", "tcp.fin_on_data = false (true)"]


def test_hosts_keep_of_a_path_what_the_scenario_has_them_keep():
    names = ("no_metrics_save", "no_ssthresh_metrics_save")
    for kept, values in (("off", ["1", "1"]), ("linux", ["0", "1"]), ("threshold", ["0", "0"])):
        sysctl = transport_of(Tcp(preset="linux", cached_metrics=kept)).sysctl
        assert [sysctl[f"net.ipv4.tcp_{name}"] for name in names] == values


def test_without_delayed_acknowledgements_every_segment_is_acknowledged_at_once():
    found = transport_of(Tcp(preset="linux", delayed_ack=0))
    assert "quickack 1" in found.route
    assert not any("delayed_ack" in field or "quick_acks" in field for field in found.other)


def test_headers_beyond_those_of_ip_and_tcp_are_overhead_of_every_packet():
    assert transport_of(Tcp(header=54)).overhead_bytes == 0
    assert transport_of(Tcp(header=58)).overhead_bytes == 4


def test_a_rule_of_the_window_that_the_kernel_has_not_is_refused():
    with pytest.raises(MayflyError, match=r"tcp.congestion = iiad: the kernel has aimd, cubic, bbr"):
        transport_of(Tcp(congestion="iiad"))
    with pytest.raises(MayflyError, match=r"tcp.congestion_of.bulk = sqrt: "):
        own_transport("tcp.congestion_of.bulk", Tcp(congestion="sqrt"), Tcp())


def test_flows_may_have_a_rule_and_pacing_of_their_own_and_nothing_else():
    tcp = Tcp(preset="linux", congestion_of={"bulk": "aimd"})
    own = own_transport("transports.fast", merged(tcp, OwnTransport(congestion="bbr", pacing=True)), tcp)
    assert (own.congestion, own.paced) == ("bbr", True)
    with pytest.raises(MayflyError, match=r"^transports.fast.ecn = classic: must be as in \[tcp\], off, with --engine"):
        own_transport("transports.fast", merged(tcp, OwnTransport(ecn=True)), tcp)
    with pytest.raises(MayflyError, match=r"^transports.fast.congestion = iiad: the kernel has aimd, cubic, bbr$"):
        own_transport("transports.fast", merged(tcp, OwnTransport(congestion="iiad")), tcp)


def test_feedback_of_marks_that_the_kernel_has_not_is_refused():
    assert transport_of(Tcp(ecn=True)).sysctl["net.ipv4.tcp_ecn"] == "1"
    for word in ("dctcp", "accurate", "l4s"):
        with pytest.raises(MayflyError, match=rf"^tcp.ecn = {word}: the kernel has off, classic$"):
            transport_of(Tcp(ecn=word))


def test_every_field_is_set_or_told_of():
    set_by_us = {
        *("mss", "header", "initial_window", "receiver_window", "min_rto", "congestion", "congestion_of", "ecn"),
        *("hystart", "recovery", "timestamps", "pacing", "syn_retries", "fin", "preset"),
        *("cached_metrics", "restart_after_idle", "receive_memory"),
    }
    assert set(Tcp.model_fields) == set_by_us | set(CONSTANT)


def test_the_newest_test_kernel_is_that_of_its_preset(monkeypatch):
    old, new = Tcp(preset="linux-6.1"), Tcp(preset="linux-7.3")
    assert transport_of(old).other == ["tcp.tick = 0.004 (0.01)", "tcp.fin_on_data = false (true)"]
    assert {"tcp.kernel = linux-7.3 (linux-6.1)", "tcp.linear_syn_timeouts = 4 (0)"} < set(transport_of(new).other)
    monkeypatch.setenv("MAYFLY_KERNEL", "newest")
    assert transport_of(new).other == ["tcp.tick = 0.004 (0.01)", "tcp.fin_on_data = false (true)"]
    assert "tcp.kernel = linux-6.1 (linux-7.3)" in transport_of(old).other
    # Both tune their buffers, up to the memory of the preset.
    assert [transport_of(tcp).window_bytes for tcp in (old, new)] == [0, 0]
    assert transport_of(new).sysctl["net.ipv4.tcp_rmem"] == "4096 131072 33554432"
    assert transport_of(old).sysctl["net.ipv4.tcp_rmem"] == "4096 131072 6291456"
