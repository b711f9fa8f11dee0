"""Every table and figure of the founding papers: what it shows, and where nothing is claimed about it, why not."""

import re
from dataclasses import dataclass

DRAWING = "a drawing, without a result"
SETTINGS = "settings, without a result: they are those of the scenarios"
NOT_YET = "not declared yet"
"""The reason given for a table or figure that has no claims yet and no other reason."""

PAPERS = {
    "chen-2012": "Chen 2012",
    "chen-2013": "Chen 2013",
    "rai-2003": "Rai 2003",
    "urvoy-keller-2007": "Urvoy-Keller 2007",
    "zhao-2004": "Zhao 2004",
}
"""How claims cite them, by the beginning of an id."""


@dataclass(frozen=True)
class Exhibit:
    """A table or figure.

    Parameters
    ----------
    paper : str
        One of `PAPERS`.
    label : str
        Such as ``Fig. 4.2`` or ``Table III``.
    shows : str
        In a few words.
    reason : str
        Why there is nothing to declare; empty where there is.
    """

    paper: str
    label: str
    shows: str
    reason: str = ""

    @property
    def id(self) -> str:
        """Such as ``chen-2012-fig-4.2``."""
        return f"{self.paper}-{self.label.lower().replace('. ', '-').replace(' ', '-')}"


_LISTS = {
    "chen-2012": """
        Fig. 3.1 | probability that a flow is sampled by its first packets
        Fig. 3.2 | that probability by size of the flow
        Fig. 4.1 | the wired topology | drawing
        Fig. 4.2 | queue size and flow table size
        Fig. 4.3 | high and low queue over time
        Fig. 4.4 | segments of a connection that are high and low
        Fig. 4.5 | volume of flows in the two queues
        Fig. 4.6 | flow table over time | no numbers: Table 4.1 has its figures
        Fig. 4.7 | histogram of the flow table
        Fig. 4.8 | sizes of incomplete transfers
        Fig. 4.9 | mean response time by size
        Fig. 4.10 | its confidence intervals | the intervals of Fig. 4.9: every row of ours has one
        Fig. 4.11 | the three largest transfers over time
        Fig. 4.12 | loss of a CBR flow
        Fig. 4.13 | jitter of a CBR flow
        Table 4.1 | flow table size
        Table 4.2 | response times of short and long flows
        Fig. 5.1 | how a flow falls into sub-flows | drawing
        Fig. 5.2 | sizes of flows and sub-flows
        Fig. 5.3 | FIFO beside its model, load 0.5
        Fig. 5.4 | SCFQ beside its model, load 0.5
        Fig. 5.5 | LAS beside its model, load 0.5
        Fig. 5.6 | Run2C beside its model, load 0.5
        Fig. 5.7 | FIFO beside its model, load 0.9
        Fig. 5.8 | SCFQ beside its model, load 0.9
        Fig. 5.9 | LAS beside its model, load 0.9
        Fig. 5.10 | Run2C beside its model, load 0.9
        Fig. 5.11 | variants of EFD by size
        Fig. 5.12 | their model
        Fig. 5.13 | total and queueing time
        Fig. 5.14 | comparison of times
        Fig. 5.15 | hypotheses on arrivals
        Fig. 5.16 | model of flights
        Fig. 5.17 | model by cuts
        Fig. 6.1 | the wireless topology | drawing
        Fig. 6.2 | 5 uploads against 5 downloads
        Fig. 6.3 | round-trip times and windows by buffer
        Fig. 6.4 | orders inside EFD, by bytes
        Fig. 6.5 | orders inside EFD, by packets
        Fig. 6.6 | symmetric load, 30 packets
        Fig. 6.7 | asymmetric load, 30 packets
        Fig. 6.8 | asymmetric load, 300 packets
        Table 6.1 | parameters | settings
        Fig. 7.1 | the topology | drawing
        Fig. 7.2 | 5 against 5, queue in packets
        Fig. 7.3 | 5 against 5, queue in bytes
        Fig. 7.4 | symmetric load, queue in bytes
        Fig. 7.5 | symmetric load, continued
        Fig. 8.1 | traffic by class
        Fig. 8.2 | load over time
        Fig. 8.3 | flow sizes
        Fig. 8.4 | durations and times between arrivals
        Fig. 8.5 | laws of times between arrivals
        Fig. 8.6 | laws of flow sizes
        Fig. 8.7 | ratios of hosts
        Fig. 8.8 | volumes of hosts
        Fig. 8.9 | volume in both directions
        Fig. 8.10 | volume in both directions
        Fig. 8.11 | procedure of roles | drawing
        Fig. 8.12 | hosts by role over several traces
        Fig. 8.13 | traffic of hosts
        Table 8.1 | the datasets
        Table 8.2 | composition of the traffic
        Table 8.3 | naive Bayes on roles
        Table 8.4 | C4.5 on roles
        Fig. 9.1 | parts of a transfer | drawing
        Fig. 9.2 | volume of transfers
        Fig. 9.3 | down-up ratio and round-trip time
        Fig. 9.4 | warm-up times
        Fig. 9.5 | sizes of trains
        Fig. 9.6 | number of trains, pacing
        Fig. 9.7 | the wired enterprise | drawing
        Fig. 9.8 | the wireless enterprise | drawing
        Table 9.1 | how traffic flows in the enterprise
        Table 9.2 | delays of links
        Fig. 9.9 | legacy model, wired
        Fig. 9.10 | topological model, wired
        Fig. 9.11 | legacy model, wireless
        Fig. 9.12 | topological model, wireless
        Fig. 9.13 | sizes of transfers
        Fig. 9.14 | response times with intervals
        Fig. A.1 | symmetric, 10 Mb/s | the intervals of Fig. 6.6: Table A.1 has its figures
        Fig. A.2 | symmetric, 20 Mb/s | Table A.2 has its figures
        Fig. A.3 | asymmetric, 10 Mb/s | Table A.3 has its figures
        Fig. A.4 | asymmetric, 20 Mb/s | Table A.4 has its figures
        Fig. A.5 | asymmetric, 300 packets, 10 Mb/s | Table A.5 has its figures
        Fig. A.6 | asymmetric, 300 packets, 20 Mb/s | Table A.6 has its figures
        Table A.1 | symmetric, 10 Mb/s
        Table A.2 | symmetric, 20 Mb/s
        Table A.3 | asymmetric, 10 Mb/s
        Table A.4 | asymmetric, 20 Mb/s
        Table A.5 | asymmetric, 300 packets, 10 Mb/s
        Table A.6 | asymmetric, 300 packets, 20 Mb/s
    """,
    "chen-2013": """
        Fig. 1 | topology | drawing
        Fig. 2 | 5 uploads against 5 downloads | the conference form of Chen 2012, Fig. 6.2
        Fig. 3 | round-trip times and windows by buffer | the conference form of Chen 2012, Fig. 6.3
        Fig. 4 | orders inside EFD, by bytes | the conference form of Chen 2012, Fig. 6.4
        Fig. 5 | orders inside EFD, by packets | the conference form of Chen 2012, Fig. 6.5
        Fig. 6 | symmetric load, 30 packets | the conference form of Chen 2012, Fig. 6.6
        Fig. 7 | asymmetric load, 30 packets | the conference form of Chen 2012, Fig. 6.7
        Fig. 8 | asymmetric load, 300 packets | the conference form of Chen 2012, Fig. 6.8
    """,
    "rai-2003": """
        Fig. 1 | slow start without loss | drawing
        Fig. 2 | slow start with loss under FIFO | drawing
        Fig. 3 | slow start with loss under both | drawing
        Fig. 4 | packets of flows under LAS and FIFO
        Fig. 5 | topology | drawing
        Fig. 6 | sizes of flows
        Fig. 7 | transmission times by size
        Fig. 8 | active flows over time
        Fig. 9 | flows with loss
        Fig. 10 | loss by size
        Fig. 11 | an FTP flow at load 0.75
        Fig. 12 | an FTP flow at load 0.9
        Fig. 13 | an FTP flow at load 0.98
        Fig. 14 | an FTP flow by delay of the links
        Fig. 15 | jitter of a UDP flow
        Fig. 16 | loss of a UDP flow
        Table 1 | the web profile | settings
    """,
    "urvoy-keller-2007": """
        Fig. 1 | round-trip times and windows under FIFO
        Fig. 2 | uploads to downloads under FIFO
        Fig. 3 | uploads to downloads
        Fig. 4 | aggregate throughput
        Fig. 5 | round-trip times and windows under LAS
        Fig. 6 | round-trip times and windows under LASACK
        Fig. 7 | CoV and mean of the lognormal law
        Fig. 8 | CoV and mean of the bounded Pareto law
        Fig. 9 | a cycle of frames | drawing
        Fig. 10 | capacity of the cycle
        Fig. 11 | measured load
        Fig. 12 | active connections
        Fig. 13 | downloads at 2 Mb/s
        Fig. 14 | downloads at 5 Mb/s
        Fig. 15 | load at the layers
        Fig. 16 | model at 1 Mb/s
        Fig. 17 | model at 2 Mb/s
        Fig. 18 | model at 3 Mb/s
        Fig. 19 | LASACK and FIFO at 3 Mb/s
        Fig. 20 | LASACK and FIFO at 5 Mb/s
        Fig. 21 | models of the mix at 3 Mb/s
        Fig. 22 | models of the mix at 5 Mb/s
        Table 1 | estimated capacity
    """,
    "zhao-2004": """
        Fig. 1 | round-trip time in equilibrium
        Fig. 2 | topology | drawing
        Fig. 3 | high load that does not respond
        Fig. 4 | periods without loss
        Fig. 5 | response to a change
        Fig. 6 | short and long TCP beside it
        Fig. 7 | different round-trip times
        Fig. 8 | accuracy by round-trip time
        Fig. 9 | VBR traffic
        Fig. 10 | high loss
        Fig. 11 | several hops | drawing
        Fig. 12 | estimation over several hops
        Fig. 13 | unevenly distributed flows
        Fig. 14 | forwarding in Linux | drawing
        Fig. 15 | traffic control in Linux | drawing
        Fig. 16 | the algorithm in the kernel | drawing
        Fig. 17 | files in the kernel | drawing
        Fig. 18 | files of tc | drawing
        Fig. 19 | status line of tc
        Fig. 20 | testbed | drawing
        Fig. 21 | requests by file size | settings
        Fig. 22 | high loads, in Linux
        Fig. 23 | response to a change, in Linux
        Fig. 24 | traffic mix, in Linux
        Fig. 25 | topology | drawing
        Fig. 26 | queueing delay by buffer
        Fig. 27 | TCP throughput by queueing delay
        Fig. 28 | deviation of the queueing delay
        Fig. 29 | relative queueing delay by capacity
        Fig. 30 | TCP throughput by load
        Fig. 31 | relative queueing delay by load
        Fig. 32 | a projection | drawing
        Table I | errors under mixtures
        Table II | losses over several hops
        Table III | drop-tail and RED
        Table IV | hardware | settings
        Table V | bandwidth-delay products | settings
        Table VI | buffers | settings
        Table VII | workloads | settings
        Table VIII | utilisation
        Table IX | loss and marks
        Table X | throughputs
    """,
}

_REASONS = {"drawing": DRAWING, "settings": SETTINGS}


def _exhibit(paper: str, line: str) -> Exhibit:
    label, shows, *reason = (part.strip() for part in line.split(" | "))
    return Exhibit(paper, label, shows, _REASONS.get(reason[0], reason[0]) if reason else "")


EXHIBITS = tuple(_exhibit(paper, line.strip()) for paper, text in _LISTS.items() for line in text.strip().splitlines())
"""In the order of the papers."""

_NUMBER = r"(?:[IVX]+|[A-Z]\.\d+|\d+(?:\.\d+)?)(?![.\d])"
_KIND = re.compile(r"(Fig\.|Table|Eq\.)")
_ONE = re.compile(rf"({_NUMBER})(?:\([a-z]\)|[a-z])?")


def cited(source: str) -> list[str]:
    """Ids of the exhibits that a claim's source names.

    Parameters
    ----------
    source : str
        Such as ``Chen 2012, 4.6.2, Fig. 4.9, Table 4.2``.

    Returns
    -------
    list of str

    Examples
    --------
    >>> cited("Rai 2003, 5.1, Fig. 11 and 12")
    ['rai-2003-fig-11', 'rai-2003-fig-12']
    >>> cited("Chen 2012, 4.5.1, Fig. 4.2, 4.6.1, Fig. 4.7; 7.3")
    ['chen-2012-fig-4.2', 'chen-2012-fig-4.7']
    >>> cited("Chen 2012, 5.2.2, Fig. 5.7 to 5.9, Eq. 5.1")
    ['chen-2012-fig-5.7', 'chen-2012-fig-5.8', 'chen-2012-fig-5.9']
    """
    paper = next((paper for paper, name in PAPERS.items() if source.startswith(name)), None)
    known = [exhibit.id for exhibit in EXHIBITS if exhibit.paper == paper]
    found: list[str] = []
    for part in source.split(";"):
        pieces = _KIND.split(part)
        for kind, text in zip(pieces[1::2], pieces[2::2], strict=True):
            previous, joined = None, ""
            for match in _ONE.finditer(text):
                name = f"{paper}-{kind.lower().rstrip('.')}-{match[1].lower()}"
                joined = text[previous.end() : match.start()] if previous else ""
                # A number with two dots is a section: the list of figures ended before it.
                if previous and joined.strip() not in (",", "and", "to", ", and"):
                    break
                if name in known:
                    if joined.strip() == "to" and found:
                        found += known[known.index(found[-1]) + 1 : known.index(name)]
                    found.append(name)
                previous = match
    return list(dict.fromkeys(found))
