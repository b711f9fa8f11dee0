"""A profile in words."""

from collections.abc import Mapping
from typing import Any

from mayfly.limits import stopped_sentence
from mayfly.text.readable import bytes_text, rate_text, share_text, time_text
from mayfly.workload.account import cannot_answer
from mayfly.workload.copies import copies_sentence
from mayfly.workload.doubts import SKIPPED, clock_sentences, loads_sentence, one_sided_sentence
from mayfly.workload.doubts import reasons as reasons_of
from mayfly.workload.sieve import sieve_sentences
from mayfly.workload.udp_share import UdpShare

FOUND_BY = {
    "given": "as given",
    "private": "by private addresses",
    "network": "by the network that nearly all connections touch",
    "openers": "by who opens more connections than it takes, a guess",
}
"""How the hosts of the site were told from the others."""

NAMES = {"size_bytes": "flow sizes", "gap_s": "times between arrivals", "duration_s": "durations"}
"""What laws are fitted to."""

P_LEVEL = 0.05


def verdict(document: Mapping[str, Any]) -> list[str]:
    """Tell whether the link is full, when and at which rate.

    Parameters
    ----------
    document : mapping
        Of :meth:`mayfly.profile.answer.Profile.document`.

    Returns
    -------
    list of str
        A sentence for each direction, the busier one first.
    """
    link, duration_s = document["link"], document["dataset"]["duration_s"]
    partial = stopped_sentence(document["counts"], duration_s)
    doubt = [] if partial is None else [partial]
    loads = loads_sentence(document["counts"])
    doubt += [] if loads is None else [loads]
    counts = document["counts"]
    doubt += clock_sentences(
        link["longest_silence_s"], duration_s, counts.get("set_back_s", 0.0), bool(counts.get("nanoseconds"))
    )
    doubt += cannot_answer(document["account"])
    return [*doubt, *summed_up(document["counts"], listed=False), *_verdict(link, duration_s)]


def _verdict(link: Mapping[str, Any], duration_s: float) -> list[str]:
    if link["guess"] is None:
        return ["is the link full? A table of connections does not say when each packet went: profile the captures"]
    if not any(of["bytes"] for of in link["directions"].values()):
        return ["No packet of IP is there"]
    busier = link["guess"]["busier"]
    told = []
    for way in (busier, "up" if busier == "down" else "down"):
        guess, of = link["guess"][way], link["directions"][way]
        name = way.capitalize()
        if guess["rate_bps"] is not None:
            told.append(
                f"{name}: full for {time_text(guess['full_s'])} of {time_text(duration_s)} "
                f"({share_text(guess['full_share'])}), at about {rate_text(guess['rate_bps'])}"
                + ("" if guess["wait_s"] is None else f"; packets then wait up to {time_text(guess['wait_s'])}")
            )
        elif not of["bytes"]:
            told.append(f"{name}: no packet")
        elif guess["perhaps_full_s"]:
            told.append(f"{name}: perhaps full: {guess['why']}")
        elif of["busiest"] is None:
            told.append(f"{name}: not told: the capture is too short to have a busiest second")
        else:
            told.append(f"{name}: not full as far as the capture shows: {guess['why']}")
    return told


def first_sentences(document: Mapping[str, Any]) -> list[str]:
    """Tell what an engineer asks first, after the tables: round trips, repeats, and what to doubt.

    Parameters
    ----------
    document : mapping
        Of :meth:`mayfly.profile.answer.Profile.document`.

    Returns
    -------
    list of str
    """
    trips = document["link"]["round_trips"]
    told = []
    if trips["connections"] == 1:
        told.append(
            f"round trips: {time_text(trips['median_s'])} on average, {time_text(trips['above_median_s'])} above the "
            "least, in one connection"
        )
    elif trips["connections"]:
        told.append(
            f"round trips: {time_text(trips['median_s'])} in the median, {time_text(trips['p95_s'])} for 95 % of "
            f"{several(trips['connections'], 'connection')}; {time_text(trips['above_median_s'])} and "
            f"{time_text(trips['above_p95_s'])} above the least to the same host"
        )
    else:
        told.append("round trips: none can be told")
    told += _repeats(document)
    told += _udp(document)
    near = document["link"]["near"]
    if near is not None and near["hosts"] and near["found_by"] == "openers":
        told.append(
            "next to no traffic crosses the boundary of the site: the near side here is that of the hosts that open "
            "connections; --internal names it"
        )
    elif near is not None and (sentence := one_sided_sentence(near["crossing"])):
        told.append(sentence)
    told += _doubts(document)
    return told


def _repeats(document: Mapping[str, Any]) -> list[str]:
    of = document["retransmission"]["all"]
    if of["rate"] is None:
        return []
    return [f"{100 * of['rate']:.2f} % of TCP data packets are retransmissions"]


def _udp(document: Mapping[str, Any]) -> list[str]:
    of = document["udp"]
    share = UdpShare(
        of["quic_share"],
        of.get("quic_probably_share", 0.0),
        of["other_udp_share"],
        of["udp_443_share"],
        of["calls_share"],
        opaque=of.get("opaque_share", 0.0),
    )
    return [share.text()] if share.whole else []


def _doubts(document: Mapping[str, Any]) -> list[str]:
    told = sieve_sentences(document["counts"])
    if sentence := copies_sentence(document["counts"]):
        told.append(sentence)
    packets = document["counts"].get("packets", 0)
    # Copies have a sentence of their own.
    skipped = {name: count for name, count in document["counts"].get("skipped", {}).items() if name != "duplicate"}
    left = sum(skipped.values())
    if packets and left > 0.05 * packets and not cannot_answer(document["account"]):
        others = reasons_of(document["counts"])
        why = SKIPPED["duplicate"] if 2 * skipped.get("duplicate", 0) > left or not others else others[0][1]
        told.append(f"{share_text(left / packets)} of {packets:,} packets are left out, most of them {why}")
    if document["counts"].get("rewritten"):
        told.append(
            "the table has no metadata of Mayfly, which Polars drops when it writes: the date is unknown, and so are "
            "packets that belong to no connection"
        )
    if document["counts"].get("truncated"):
        told.append("the capture ends inside a packet")
    return told


def profile_sentences(document: Mapping[str, Any]) -> list[str]:
    """Tell what stands out in the details: what was captured, then laws and tests.

    Parameters
    ----------
    document : mapping
        Of :meth:`mayfly.profile.answer.Profile.document`.

    Returns
    -------
    list of str
    """
    return [*detail_sentences(document), *law_sentences(document)]


def detail_sentences(document: Mapping[str, Any]) -> list[str]:
    """Tell what stands out in hosts, classes and flows."""
    return [*site_sentences(document), *_classes(document), *_flows(document), *_hosts(document)]


def law_sentences(document: Mapping[str, Any]) -> list[str]:
    """Tell what the tests say: periods of the load, laws of sizes and times."""
    return [*_periods(document), *_fits(document)]


def summed_up(counts: Mapping[str, Any], listed: bool) -> list[str]:
    """Tell what is in no row of the table of connections, since memory held no more.

    Parameters
    ----------
    counts : mapping
        Of :func:`mayfly.workload.connections.read_captures`.
    listed : bool
        Whether connections that left early are in the table all the same.

    Returns
    -------
    list of str
        At most one sentence for those that nobody answered, and one for others.

    Examples
    --------
    >>> of = {"connections": 9_000_000, "packets": 9_000_000, "bytes": 360_000_000}
    >>> summed_up({"evicted": 9_000_002, "unanswered": of}, True)
    ['9,000,000 connections that nobody answered (scans, floods: 9,000,000 packets, 360 MB) are in no row']
    """
    of = counts.get("unanswered") or {"connections": 0}
    told = []
    if of["connections"]:
        told.append(
            f"{several(of['connections'], 'connection')} that nobody answered (scans, floods: "
            f"{several(of['packets'], 'packet')}, {bytes_text(of['bytes'])}) are in no row"
        )
    if trains := counts.get("trains_left_out", 0):
        told.append(f"{several(trains, 'train')} beyond the most that are held are in no row")
    others = counts.get("evicted", 0) - of["connections"]
    if others and not listed:
        told.append(
            f"{several(others, 'connection')} of all were given up, those that were silent for longest, since memory "
            "holds no more: what is told is of the others; --memory gives more"
        )
    return told


def site_sentences(document: Mapping[str, Any]) -> list[str]:
    """Tell whose the hosts are, and how they were told apart."""
    site = document["site"]
    networks = f" ({', '.join(site['networks'])})" if site["networks"] else ""
    told = f"{document['dataset']['local_hosts']:,} local hosts, found {FOUND_BY[site['found_by']]}{networks}: "
    roles = f"{several(site['server'], 'server')}, {several(site['client'], 'client')}, {site['unknown']:,} unknown"
    source = {
        "hosts file": "by the file of hosts",
        "model": "by the model of roles",
        "hosts file and model": "by the file of hosts and the model of roles",
        "balance": "by whether a host answered more connections than it opened, a stand-in for knowing them",
    }
    return [f"{told}{roles}, {source.get(site['roles_from'], site['roles_from'])}"]


def _classes(document: Mapping[str, Any]) -> list[str]:
    sides = {
        side: sum(row["bytes_share"] or 0 for row in document["composition"] if row["side"] == side)
        for side in ("internal", "external", "neither")
    }
    told = [
        f"{share_text(sides['internal'])} of the bytes stay inside, {share_text(sides['external'])} cross the boundary"
    ]
    left = document["directions"]["left_out"]
    if left["immature"]["connections"]:
        told.append(
            f"{several(left['immature']['connections'], 'connection')} carried no data or ended in the set-up: in the "
            "classes, but not in sizes, durations and directions"
        )
    return told


def _flows(document: Mapping[str, Any]) -> list[str]:
    carried = document["size_bytes"]["carried_by_largest_5_percent"]
    told = [] if carried is None else [f"the largest 5 % of the flows carry {share_text(carried)} of the payload"]
    durations = document["duration_s"]
    if durations["begun_before"] or durations["not_ended"]:
        told.append(
            f"durations leave out {several(durations['begun_before'], 'flow')} begun before the capture and "
            f"{durations['not_ended']:,} not ended in it: long ones are missing"
        )
    rate = document["retransmission"]["all"]["rate"]
    if rate is not None:
        told.append(f"{100 * rate:.2f} % of TCP data packets are retransmissions")
    return told


def _periods(document: Mapping[str, Any]) -> list[str]:
    found = document["periods"]["found"]
    width = time_text(document["load"]["bin_s"])
    if not found:
        return [f"too few whole bins of {width} to look for stationary periods: a smaller bin may do"]
    busy = [
        f"{time_text(row['start_s'])} to {time_text(row['end_s'])} ({rate_text(row['mean_bps'])})"
        for row in found
        if row["busy"]
    ]
    stationary = sum(bool(row["stationary"]) for row in found)
    told = f"load in bins of {width}: {several(len(found), 'period')}, {stationary} of them stationary"
    return [told + (f"; busy: {', '.join(busy)}" if busy else "; none busier than the rest")]


def several(count: int, what: str) -> str:
    """Write a count of things."""
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def _fits(document: Mapping[str, Any]) -> list[str]:
    told = []
    for name, fits in document["fits"].items():
        best = fits[0]
        single = next(fit for fit in fits if not fit["law"].startswith("two"))
        text = f"{NAMES[name]}: best law {best['law']} by AIC"
        if single is not best:
            text += f", {single['law']} among those that are no mixture"
        if best["ad_p"] is not None:
            verdict = "not rejected" if best["ad_p"] >= P_LEVEL else "rejected"
            text += f"; {best['law']} is {verdict} (Anderson-Darling p = {best['ad_p']:.2g}, {best['tested']:,} values)"
        told.append(text)
    for name, reasons in document["not_fitted"].items():
        told += [f"{NAMES[name]}: {law} is not fitted: {why.removeprefix(f'{law}: ')}" for law, why in reasons.items()]
    return told


def _hosts(document: Mapping[str, Any]) -> list[str]:
    hosts = document["hosts"]
    if not hosts["chosen"]:
        return []
    median = hosts["internal_external"]["bytes"]["q50"]
    return (
        []
        if median is None
        else [
            f"{several(hosts['chosen'], 'client')} with internal and external traffic: {median:.3g} times as many "
            "internal bytes as external ones in the median"
        ]
    )
