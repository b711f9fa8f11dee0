"""Findings as Markdown."""

from collections import Counter
from collections.abc import Iterable, Sequence

from mayfly_papers.declare.agreement import FAR
from mayfly_papers.declare.declaration import Difference, Experiment, Finding, RowFinding, Runs, Verdict

LEGEND = """\
*Ours* is the mean over the replications with its 95 % interval (Student's t). *One run* is where 95 % of single
runs of ours fall; the papers printed single runs, so a printed number inside **agrees**, unless the band is wider
than a factor of 2, which would hold almost any number. Otherwise the direction decides, by the 95 % interval of its
margin over the replications: **same direction**, with the factor between ours and the print where it is above 3,
**undecided** (the interval holds both, or there is no direction and the band is too wide) or **differs**. Where a
word such as *negligible* or *close* stands behind a threshold, *at twice* is what twice that threshold gives. All
disciplines of a replication see the same transfers. Rows over two experiments take the replications that both
have."""


def markdown(
    title: str, introduction: str, findings: Sequence[Finding], experiments: Iterable[Experiment], runs: Runs
) -> str:
    """A page of findings.

    Parameters
    ----------
    title, introduction : str
        Head of the page, Markdown.
    findings : sequence of Finding
        In order of the page.
    experiments : iterable of Experiment
        Those the findings come from.
    runs : Runs
        Told how long each took.

    Returns
    -------
    str
        Markdown with a final newline.
    """
    parts = [f"# {title}", introduction, LEGEND, "## Verdicts", verdict_table(findings)]
    parts += ["## Experiments", experiment_table(experiments, runs), "## Claims", *map(section, findings)]
    return "\n\n".join(parts) + "\n"


def verdict_table(findings: Sequence[Finding]) -> str:
    """How many claims and rows came out how."""
    claims = Counter(finding.verdict for finding in findings)
    rows = Counter(row.verdict for finding in findings for row in finding.rows)
    body = [[str(verdict), str(claims[verdict]), str(rows[verdict])] for verdict in Verdict]
    counted = table(["verdict", "claims (worst row)", "rows"], body)
    summary = [
        [f"[{finding.claim.id}](#{anchor(finding.claim.id)})", finding.claim.says, str(finding.verdict)]
        for finding in findings
    ]
    return f"{counted}\n\n{table(['claim', 'the text', 'verdict'], summary)}"


def experiment_table(experiments: Iterable[Experiment], runs: Runs) -> str:
    """What was run."""
    body = []
    for experiment in experiments:
        overrides = ", ".join(f"`{name} = {value}`" for name, value in experiment.overrides.items())
        for changed in (experiment.flows, experiment.prepare):
            if changed is not None:
                overrides += "; " + (changed.__doc__ or "").partition("\n")[0]
        seed = experiment.loaded().seed
        seeds = f"{seed} to {seed + experiment.replications - 1}"
        took = f"{runs.seconds[experiment.id]:.0f} s" if experiment.id in runs.seconds else "not run"
        body.append(
            [experiment.id, f"`{experiment.scenario}`, {overrides}", ", ".join(experiment.disciplines), seeds, took]
        )
    return table(["experiment", "settings", "disciplines", "seeds, one per replication", "run time"], body)


def section(finding: Finding) -> str:
    """One claim."""
    claim = finding.claim
    lines = [f"### {claim.id}", f"{claim.source}: {claim.says}.", f"*{claim.settings}.* {claim.note}".rstrip()]
    head = ["", "printed", "ours [95 %]", "one run", "claimed", "verdict"]
    lines.append(table(head, [cells(row) for row in finding.rows]))
    outcome = str(finding.verdict).capitalize()
    if finding.undecided_replications:
        among = "" if finding.verdict is Verdict.UNDECIDED else ", some rows undecided"
        outcome += f"{among} with {finding.undecided_replications} replications"
    lines.append(f"**{outcome}.**" + (f" {explained(claim.difference)}" if claim.difference else ""))
    return "\n\n".join(lines)


def explained(difference: Difference) -> str:
    """A reason, and whether a run shows it."""
    kind = f"tested: {difference.test}" if difference.tested else "argued"
    return f"{difference.reason} *({kind})*"


def cells(found: RowFinding) -> list[str]:
    """One row."""
    row = found.row
    name = f"{row.name} ({row.unit})" if row.unit else row.name
    printed = ""
    if row.printed:
        printed = number(row.printed.value) + (f" {interval(row.printed.ci95)}" if row.printed.ci95 else "")
    ours = number(found.mean) + (f" {interval(found.ci95)}" if found.ci95 else "")
    band = interval(found.one_run) if found.one_run else ""
    return [name, printed, ours, band, row.direction, f"{found.verdict}{aside(found)}"]


def aside(found: RowFinding) -> str:
    """What follows the verdict of a row: a factor beyond `FAR`, and the verdict at twice a threshold that fails."""
    if found.verdict is Verdict.DIRECTION and found.factor is not None and found.factor > FAR:
        return f", off by {told_factor(found.factor)}"
    if found.verdict in (Verdict.UNDECIDED, Verdict.DIFFERS) and found.at_twice is not None:
        return f", at twice: {found.at_twice}"
    return ""


def told_factor(value: float) -> str:
    """A factor in words, two significant digits.

    Examples
    --------
    >>> told_factor(4.234), told_factor(123.4), told_factor(float("inf"))
    ('a factor of 4.2', 'a factor of 123', 'any factor: ours is 0')
    """
    if value == float("inf"):
        return "any factor: ours is 0"
    return f"a factor of {value:.2g}" if value < 100 else f"a factor of {value:.0f}"


def anchor(heading: str) -> str:
    """Name under which GitHub and MyST let a heading of words, dots and dashes be linked."""
    return heading.replace(".", "")


def number(value: float) -> str:
    """Four significant digits."""
    return f"{value:.4g}" if abs(value) < 1e4 else f"{value:.0f}"


def interval(bounds: Sequence[float]) -> str:
    """Lower and upper bound."""
    return f"[{number(bounds[0])}, {number(bounds[1])}]"


def table(head: Sequence[str], body: Iterable[Sequence[str]]) -> str:
    """A Markdown table."""
    lines = [head, ["---"] * len(head), *body]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)
