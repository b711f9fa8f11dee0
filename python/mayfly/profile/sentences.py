"""A profile in words."""

from collections.abc import Mapping
from typing import Any

from mayfly.text.readable import rate_text, share_text, time_text

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


def profile_sentences(document: Mapping[str, Any]) -> list[str]:
    """Tell what stands out.

    Parameters
    ----------
    document : mapping
        Of :meth:`mayfly.profile.answer.Profile.document`.

    Returns
    -------
    list of str
    """
    return [
        *site_sentences(document),
        *_classes(document),
        *_flows(document),
        *_periods(document),
        *_fits(document),
        *_hosts(document),
    ]


def site_sentences(document: Mapping[str, Any]) -> list[str]:
    """Tell whose the hosts are, and how they were told apart."""
    site = document["site"]
    networks = f" ({', '.join(site['networks'])})" if site["networks"] else ""
    told = f"{document['dataset']['local_hosts']:,} local hosts, found {FOUND_BY[site['found_by']]}{networks}: "
    roles = f"{_several(site['server'], 'server')}, {_several(site['client'], 'client')}, {site['unknown']:,} unknown"
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
            f"{_several(left['immature']['connections'], 'connection')} carried no data or ended in the set-up: in the "
            "classes, but not in sizes, durations and directions"
        )
    return told


def _flows(document: Mapping[str, Any]) -> list[str]:
    carried = document["size_bytes"]["carried_by_largest_5_percent"]
    told = [] if carried is None else [f"the largest 5 % of the flows carry {share_text(carried)} of the payload"]
    durations = document["duration_s"]
    if durations["begun_before"] or durations["not_ended"]:
        told.append(
            f"durations leave out {_several(durations['begun_before'], 'flow')} begun before the capture and "
            f"{durations['not_ended']:,} not ended in it: long ones are missing"
        )
    rate = document["retransmission"]["all"]["rate"]
    if rate is not None:
        told.append(f"{100 * rate:.2f} % of the TCP data packets had been sent before")
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
    told = f"load in bins of {width}: {_several(len(found), 'period')}, {stationary} of them stationary"
    return [told + (f"; busy: {', '.join(busy)}" if busy else "; none busier than the rest")]


def _several(count: int, what: str) -> str:
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
            f"{_several(hosts['chosen'], 'client')} with internal and external traffic: {median:.3g} times as many "
            "internal bytes as external ones in the median"
        ]
    )
