"""Tables and figures of the founding papers as declared experiments.

Printed values live here and nowhere else. ``python -m mayfly.papers`` runs what is declared and writes its page.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from mayfly.papers import (
    apps_tables,
    chen2012,
    chen2012_apps,
    chen2012_apps_profile,
    chen2012_cbr,
    chen2012_enterprise,
    chen2012_hosts,
    chen2012_queues,
    chen2012_subflows,
    chen2012_topology,
    chen2012_traffic,
    chen2012_wlan,
    chen2012_wlan_mixed,
    chen2012_wlan_tables,
    enterprise_figures,
    formula_figures,
    formulas,
    ponrt_scenarios,
    ponrt_tables,
    queue_figures,
    queue_tables,
    rai2003,
    rai2003_figures,
    subflow_figures,
    subflow_tables,
    testbed_scenarios,
    today,
    today_figures,
    today_runs,
    today_tables,
    traffic_figures,
    urvoy_keller2007,
    urvoy_keller2007_cell_figures,
    urvoy_keller2007_endless,
    urvoy_keller2007_figures,
    urvoy_keller2007_tables,
    wired_figures,
    wlan_figures,
    zhao2004,
    zhao2004_delays,
    zhao2004_figures,
    zhao2004_ponrt,
    zhao2004_ponrt_figures,
    zhao2004_scenarios,
    zhao2004_testbed,
    zhao2004_testbed_figures,
)
from mayfly.papers.declaration import Claim, Experiment, Finding, Runs
from mayfly.papers.page import markdown as page_markdown
from mayfly.papers.pictures import Drawing, Picture, pictures_page


@dataclass(frozen=True)
class Item:
    """One page of claims.

    Parameters
    ----------
    id : str
        Name of the page.
    title, introduction : str
        Its head, Markdown.
    claims : tuple of Claim
        In order.
    experiments : tuple of Experiment
        That the claims name.
    sections : tuple of callable
        Runs to Markdown that follows the claims: what has no printed number beside it.
    pictures : tuple of Drawing
        Each runs what it needs and gives some of the figures.
    """

    id: str
    title: str
    introduction: str
    claims: tuple[Claim, ...]
    experiments: tuple[Experiment, ...]
    sections: tuple[Callable[[Runs], str], ...] = ()
    pictures: tuple[Drawing, ...] = ()


def _drawing(source: str, pictures: Callable[[], Iterable[Picture]]) -> Drawing:
    """Figures by their source, drawn from runs of their own."""
    return Drawing(source, lambda runs: pictures())


ITEMS = (
    Item(
        id="chen-2012-wired",
        title="Chen 2012, 4.5 and 4.6: the wired network",
        introduction=chen2012.INTRODUCTION,
        claims=chen2012.CLAIMS + chen2012_cbr.CLAIMS,
        experiments=chen2012.EXPERIMENTS + chen2012_cbr.EXPERIMENTS,
        pictures=wired_figures.DRAWINGS,
    ),
    Item(
        id="chen-2012-models",
        title="Chen 2012, 5.2: models of queues",
        introduction=chen2012_queues.INTRODUCTION,
        claims=chen2012_queues.CLAIMS,
        experiments=chen2012_queues.EXPERIMENTS,
        sections=(queue_tables.error_tables,),
        pictures=(_drawing("Chen 2012, Fig. 5.3 to 5.10", queue_figures.pictures),),
    ),
    Item(
        id="chen-2012-subflows",
        title="Chen 2012, 5.1 and 5.3: sub-flows of EFD",
        introduction=chen2012_subflows.INTRODUCTION,
        claims=chen2012_subflows.CLAIMS,
        experiments=chen2012_subflows.EXPERIMENTS,
        sections=(subflow_tables.error_tables,),
        pictures=(_drawing("Chen 2012, Fig. 5.2, 5.11 to 5.17", subflow_figures.pictures),),
    ),
    Item(
        id="chen-2012-wlan",
        title="Chen 2012, 6, 7, 9.3.1 and appendix A: a wireless cell",
        introduction=chen2012_wlan.INTRODUCTION,
        claims=chen2012_wlan.CLAIMS
        + chen2012_wlan_mixed.CLAIMS
        + chen2012_topology.CLAIMS
        + chen2012_wlan_tables.CLAIMS,
        experiments=chen2012_wlan.EXPERIMENTS
        + chen2012_wlan_mixed.EXPERIMENTS
        + chen2012_topology.EXPERIMENTS
        + chen2012_wlan_tables.EXPERIMENTS,
        pictures=(*wlan_figures.DRAWINGS, enterprise_figures.CELL),
    ),
    Item(
        id="chen-2012-traffic",
        title="Chen 2012, 8: traffic of an enterprise, on the captures at hand",
        introduction=chen2012_traffic.INTRODUCTION,
        claims=chen2012_traffic.CLAIMS + chen2012_hosts.CLAIMS,
        experiments=(),
        sections=(chen2012_traffic.tables,),
        pictures=(_drawing("Chen 2012, Fig. 8.1 to 8.10, 8.12, 8.13", traffic_figures.pictures),),
    ),
    Item(
        id="chen-2012-enterprise",
        title="Chen 2012, 9.3.1: the topological model of an enterprise on the wire",
        introduction=chen2012_enterprise.INTRODUCTION,
        claims=chen2012_enterprise.CLAIMS,
        experiments=chen2012_enterprise.EXPERIMENTS,
        sections=(chen2012_enterprise.times_table,),
        pictures=(enterprise_figures.WIRED,),
    ),
    Item(
        id="chen-2012-apps",
        title="Chen 2012, 9.2 and 9.3.2: what applications do inside connections",
        introduction=chen2012_apps.INTRODUCTION,
        claims=chen2012_apps_profile.CLAIMS + chen2012_apps.CLAIMS,
        experiments=chen2012_apps.EXPERIMENTS,
        sections=(apps_tables.profile_table,),
        pictures=(
            _drawing("Chen 2012, Fig. 9.2 to 9.6", apps_tables.pictures),
            enterprise_figures.APPS,
        ),
    ),
    Item(
        id="rai-2003",
        title="Rai 2003: LAS and FIFO under web traffic",
        introduction=rai2003.INTRODUCTION,
        claims=rai2003.CLAIMS,
        experiments=rai2003.EXPERIMENTS,
        pictures=rai2003_figures.DRAWINGS,
    ),
    Item(
        id="urvoy-keller-2007",
        title="Urvoy-Keller 2007: LAS and LASACK in a wireless cell",
        introduction=urvoy_keller2007.INTRODUCTION,
        claims=urvoy_keller2007_endless.CLAIMS + urvoy_keller2007.CLAIMS,
        experiments=urvoy_keller2007_endless.EXPERIMENTS + urvoy_keller2007.EXPERIMENTS,
        sections=(urvoy_keller2007_tables.error_table,),
        pictures=(
            _drawing("Urvoy-Keller 2007, Fig. 16 to 18, 21 and 22", urvoy_keller2007_figures.pictures),
            *urvoy_keller2007_cell_figures.DRAWINGS,
            _drawing("Urvoy-Keller 2007, Fig. 10", formula_figures.of_cycles),
        ),
    ),
    Item(
        id="zhao-2004",
        title="Zhao 2004, II and IV: DropTail, RED and RED-ECN under mixed loads",
        introduction=zhao2004.INTRODUCTION,
        claims=zhao2004.CLAIMS + zhao2004_delays.CLAIMS,
        experiments=zhao2004_scenarios.EXPERIMENTS,
        pictures=(Drawing("Zhao 2004, Fig. 26 to 31", zhao2004_figures.pictures),),
    ),
    Item(
        id="zhao-2004-ponrt",
        title="Zhao 2004, II: estimating traffic that does not respond",
        introduction=zhao2004_ponrt.INTRODUCTION,
        claims=zhao2004_ponrt.CLAIMS,
        experiments=ponrt_scenarios.EXPERIMENTS,
        sections=(ponrt_tables.error_tables,),
        pictures=(_drawing("Zhao 2004, Fig. 1, 3 to 10, 12, 13", zhao2004_ponrt_figures.pictures),),
    ),
    Item(
        id="zhao-2004-testbed",
        title="Zhao 2004, III: the estimator in Linux",
        introduction=zhao2004_testbed.INTRODUCTION,
        claims=zhao2004_testbed.CLAIMS,
        experiments=testbed_scenarios.EXPERIMENTS,
        pictures=(Drawing("Zhao 2004, Fig. 19, 22 to 24", zhao2004_testbed_figures.pictures),),
    ),
    Item(
        id="formulas",
        title="Statements that a formula answers: sampling, laws of sizes",
        introduction=formulas.INTRODUCTION,
        claims=formulas.CLAIMS,
        experiments=(),
        pictures=(
            _drawing("Chen 2012, Fig. 3.1, 3.2", formula_figures.of_sampling),
            _drawing("Urvoy-Keller 2007, Fig. 7, 8", formula_figures.of_laws),
        ),
    ),
    Item(
        id="today",
        title="Beyond the papers: is Early Flow Discard still worth deploying in 2026?",
        introduction=today.INTRODUCTION,
        claims=today.CLAIMS,
        experiments=today_runs.EXPERIMENTS,
        sections=(today_tables.tables,),
        pictures=(Drawing("", today_figures.pictures),),
    ),
)
"""What is declared."""


def findings(item: Item, runs: Runs) -> list[Finding]:
    """Checks every claim of an item.

    Parameters
    ----------
    item : Item
        One of `ITEMS`.
    runs : Runs
        Of its experiments.

    Returns
    -------
    list of Finding
        By claim.
    """
    return [claim.check(runs) for claim in item.claims]


def markdown(item: Item) -> str:
    """Runs an item and renders its page.

    Parameters
    ----------
    item : Item
        One of `ITEMS`.

    Returns
    -------
    str
        Markdown.
    """
    runs = Runs(item.experiments)
    return rendered(item, findings(item, runs), runs)


def rendered(item: Item, found: Sequence[Finding], runs: Runs) -> str:
    """The page of an item that has run.

    Parameters
    ----------
    item : Item
        One of `ITEMS`.
    found : sequence of Finding
        By claim.
    runs : Runs
        That they come from.

    Returns
    -------
    str
        Markdown.
    """
    page = page_markdown(item.title, item.introduction, found, item.experiments, runs)
    return "\n".join([page, *(section(runs) for section in item.sections)])


def figures(item: Item) -> str:
    """Draws the figures of an item.

    Parameters
    ----------
    item : Item
        One with pictures.

    Returns
    -------
    str
        HTML that opens without a network.
    """
    return pictures_page(item.title, [picture for drawn in item.pictures for picture in drawn()])
