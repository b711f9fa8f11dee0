"""Times of frames on the air, against the standard and against what ns-3.37 measures (reference/ns3)."""

import pytest

from mayfly.errors import MayflyError
from mayfly.scenario.airtimes import airtimes, highest_rate, overhead_bytes, standards

US = 1000
FULL, BARE = 1500 + overhead_bytes(False), 40 + overhead_bytes(False)


def test_ofdm_at_54_mbit():
    times = airtimes("802.11a", "54mbit", lengths=[FULL, BARE])
    assert times.data_ns == (248 * US, 32 * US)
    assert (times.slot_ns, times.sifs_ns, times.difs_ns) == (9 * US, 16 * US, 34 * US)
    assert (times.ack_ns, times.ack_timeout_ns, times.cw_min, times.cw_max) == (28 * US, 45 * US, 15, 1023)
    # SIFS and an ACK at 6 Mb/s.
    assert times.eifs_extra_ns == (16 + 44) * US
    assert times.eifs_ns == (34 + 60) * US
    assert times.cts_ns == times.ack_ns
    assert times.rts_ns == 28 * US


@pytest.mark.parametrize(
    ("ack_rate", "ack_us", "cycle_mbps"), [(None, 248, None), ("2mbit", 248, None), ("11mbit", 203, 6.373)]
)
def test_dsss_at_11_mbit_with_either_rate_of_acknowledgements(ack_rate, ack_us, cycle_mbps):
    times = airtimes("802.11b", lengths=[FULL], ack_rate=ack_rate)
    assert times.data_ns == ((192 + 1118) * US,)
    assert (times.ack_ns, times.ack_timeout_ns, times.difs_ns) == (ack_us * US, 222 * US, 50 * US)
    assert times.eifs_extra_ns == (10 + 304) * US
    if cycle_mbps is not None:
        cycle_us = 50 + 15.5 * 20 + 1310 + 10 + ack_us
        assert 12_000 / cycle_us == pytest.approx(cycle_mbps, abs=5e-4)


def test_short_forms_of_preamble_and_slot():
    assert airtimes("802.11b", "5.5mbit", lengths=[14], short_preamble=True).data_ns == ((96 + 21) * US,)
    assert airtimes("802.11b", short_preamble=True).ack_timeout_ns == (10 + 20 + 96) * US
    slow, fast = airtimes("802.11g", long_slot=True), airtimes("802.11g")
    assert (slow.slot_ns, fast.slot_ns) == (20 * US, 9 * US)
    # The signal extension belongs to the frame.
    assert airtimes("802.11g", lengths=[FULL]).data_ns == (254 * US,)


def test_wide_channels():
    times = airtimes("802.11ac", "mcs9", width=80, streams=2, short_guard=True, lengths=[1500 + overhead_bytes(True)])
    # 866.7 Mb/s: 12326 bits in 4 symbols of 3.6 us, after 44 us of preamble.
    assert times.data_ns == (44 * US + 4 * 3600,)
    assert times.ack_ns == 28 * US


def test_an_aifs_for_every_category():
    times = airtimes()
    assert [times.ifs_ns(aifsn) for aifsn in (2, 3, 7)] == [34 * US, 43 * US, 79 * US]


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({"standard": "802.11z"}, "802.11z"),
        ({"standard": "802.11a", "rate": "11mbit"}, "54mbit"),
        ({"standard": "802.11b", "ack_rate": "6mbit"}, "ack_rate = 6mbit"),
        ({"standard": "802.11n", "width": 80}, "width = 80"),
        ({"standard": "802.11n", "streams": 5}, "streams = 5"),
        ({"lengths": [-1]}, "lengths = -1"),
    ],
)
def test_what_there_is_not_is_refused(given, reason):
    with pytest.raises(MayflyError, match=reason) as caught:
        airtimes(**given)
    assert "\n" not in str(caught.value)


def test_every_standard_names_its_rates():
    for name in standards():
        assert airtimes(name, lengths=[100]).data_ns[0] > 0
        assert highest_rate(name) in standards()[name]["rates"]
