"""What `mayfly profile roles` answers: a model trained and tried, and roles told in one or several traces."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from mayfly.errors import MayflyError
from mayfly.profile.hosts import read_hosts
from mayfly.profile.roles.features import CLASSES, LEAST_CONNECTIONS, enough, host_features, instances_of
from mayfly.profile.roles.instances import arff_text
from mayfly.profile.roles.model import Model, answering, read_model, train, training_rows
from mayfly.profile.roles.several import histogram, over_traces
from mayfly.profile.roles.validation import PARTS, Z, hold_out, wilson
from mayfly.profile.table import read_connections
from mayfly.show.notebook import Result
from mayfly.text.folder import filled
from mayfly.workload.sides import sides_of

if TYPE_CHECKING:
    from rich.table import Table

Paths = Sequence[str | os.PathLike[str]]
Progress = Callable[[float], None] | None


def features_of(captures: Paths, internal: Sequence[str] | None = None, progress: Progress = None) -> pl.DataFrame:
    """Features of the hosts of a site over captures taken as one.

    Parameters
    ----------
    captures : sequence of path
        As :func:`mayfly.profile.table.read_connections`.
    internal : str or sequence of str, optional
        As :func:`mayfly.workload.sides.sides_of`.
    progress : callable, optional
        Called with the fraction done.

    Returns
    -------
    polars.DataFrame
        Of :func:`mayfly.profile.roles.features.host_features`.

    Raises
    ------
    MayflyError
        As those.
    """
    frame = read_connections(captures, progress=progress).frame
    return host_features(frame, sides_of(frame, internal).internal)


@dataclass(frozen=True, eq=False, repr=False)
class Trained(Result):
    """A model with its trials.

    Parameters
    ----------
    model : Model
        Learned from all labelled hosts with enough traffic.
    trials : dict or None
        Of :func:`mayfly.profile.roles.validation.hold_out`; None with too few labelled hosts of each role.
    features : polars.DataFrame
        Of the site.
    roles : dict of str
        As given.
    """

    model: Model
    trials: dict[str, Any] | None
    features: pl.DataFrame
    roles: dict[str, str]

    def document(self) -> dict[str, Any]:
        """For JSON: ``model``, ``trials``, ``hosts`` (of the site), ``labelled``, ``learned_from``."""
        known = self.features.filter(pl.col("host").is_in(list(self.roles)))
        return {
            "model": self.model.document(),
            "trials": self.trials,
            "hosts": self.features.height,
            "labelled": known.height,
            "learned_from": sum(self.model.trained_on["hosts"].values()),
        }

    def tables(self) -> list[Table]:
        """The trials in the form of Tables 8.3 and 8.4."""
        from mayfly.profile.roles.terminal import trials_table

        return [] if self.trials is None else [trials_table(self.trials)]

    def sentences(self) -> list[str]:
        """What was learned, in words, and the classifier."""
        document, counts = self.document(), self.model.trained_on["hosts"]
        few = document["labelled"] - document["learned_from"]
        told = [
            f"{self.model.method}, {self.model.normalisation} normalisation, learned from {counts['server']} servers "
            f"and {counts['client']} clients; {few} labelled hosts have fewer than {self.model.least} connections"
        ]
        if self.trials is None:
            told.append(
                f"too few labelled hosts of each role for a hold-out in {PARTS} parts: how good it is is not known"
            )
        else:
            pooled = self.trials["pooled"]
            low, high = (100 * end for end in pooled["ci90"])
            told.append(
                f"right on {pooled['right']} of {pooled['tested']} held-out hosts (90 % interval {low:.1f} to "
                f"{high:.1f} %); "
                f"always saying the most frequent role is right on {100 * self.trials['majority']:.1f} %"
            )
        return [*told, self.model.text()]

    def write(self, path: str | os.PathLike[str]) -> str:
        """Write the model; it appears under its name when it is complete.

        Raises
        ------
        MayflyError
            It cannot be written.
        """
        path = Path(path)
        with filled(path.parent, [path.name]) as partial:
            (partial / path.name).write_text(json.dumps(self.model.document(), indent=1), encoding="utf-8")
        return str(path)


def trained(
    captures: Paths,
    hosts: str | os.PathLike[str] | Mapping[str, str],
    *,
    internal: Sequence[str] | None = None,
    method: str = "c45",
    normalisation: str = "linear",
    least: int = LEAST_CONNECTIONS,
    seed: int = 1,
    progress: Progress = None,
) -> Trained:
    """Learn the roles of a site, and try what was learned on hosts held out.

    Parameters
    ----------
    captures : sequence of path
        Of the site, taken as one.
    hosts : path or mapping of str
        Known roles (:func:`mayfly.profile.hosts.read_hosts`).
    internal : str or sequence of str, optional
        CIDRs of the site.
    method, normalisation, least
        As :func:`mayfly.profile.roles.model.train`.
    seed : int
        Of the parts of the hold-out.
    progress : callable, optional
        Called with the fraction done.

    Returns
    -------
    Trained

    Raises
    ------
    MayflyError
        As those functions, or no labelled host is of the site.
    """
    roles = dict(hosts) if isinstance(hosts, Mapping) else read_hosts(hosts)
    features = features_of(captures, internal, progress)
    if not set(roles) & set(features["host"]):
        raise MayflyError(f"none of the {len(roles)} labelled hosts is among the {features.height} hosts of the site")
    names = tuple(Path(path).name for path in captures)
    model = train(features, roles, method=method, normalisation=normalisation, least=least, captures=names)
    data = training_rows(features, roles, normalisation, least)
    trials = None
    if len(data) >= 2 * PARTS and np.bincount(data.labels).min() >= 2:
        trials = hold_out(data, answering(method), seed=seed)
    return Trained(model, trials, features, roles)


@dataclass(frozen=True, eq=False, repr=False)
class Applied(Result):
    """Roles told in traces.

    Parameters
    ----------
    names : tuple of str
        Of the traces.
    traces : tuple of polars.DataFrame
        For each what :meth:`mayfly.profile.roles.model.Model.apply` told.
    hosts : polars.DataFrame
        Of :func:`mayfly.profile.roles.several.over_traces`.
    known : dict of str
        Roles to compare with; may be empty.
    """

    names: tuple[str, ...]
    traces: tuple[pl.DataFrame, ...]
    hosts: pl.DataFrame
    known: dict[str, str]

    def document(self) -> dict[str, Any]:
        """For JSON: ``traces`` with counts by role and score, ``histogram``, ``hosts``."""
        rows = [
            {
                "name": name,
                **{role: table.filter(pl.col("role") == role).height for role in CLASSES},
                "insufficient": table["probability"].null_count(),
                "score": self._score(table),
            }
            for name, table in zip(self.names, self.traces, strict=True)
        ]
        return {"traces": rows, "histogram": histogram(self.hosts), "hosts": self.hosts.to_dicts()}

    def _score(self, table: pl.DataFrame) -> dict[str, Any] | None:
        judged = table.filter(pl.col("probability").is_not_null() & pl.col("host").is_in(list(self.known)))
        if not judged.height:
            return None
        right = sum(self.known[host] == role for host, role in judged.select("host", "role").iter_rows())
        return {"tested": judged.height, "right": right, "ci90": list(wilson(right, judged.height, Z["90"]))}

    def tables(self) -> list[Table]:
        """Hosts with their roles; over several traces how often each was told (Fig. 8.12)."""
        from mayfly.profile.roles.terminal import histogram_table, traces_table

        found = [traces_table(self.document()["traces"])]
        return [*found, histogram_table(self.document()["histogram"])] if len(self.traces) > 1 else found

    def sentences(self) -> list[str]:
        """What stands out, in words."""
        told = []
        for row in self.document()["traces"]:
            if row["score"]:
                low, high = (100 * end for end in row["score"]["ci90"])
                told.append(
                    f"{row['name']}: right on {row['score']['right']} of {row['score']['tested']} labelled hosts "
                    f"(90 % interval {low:.1f} to {high:.1f} %)"
                )
        if len(self.traces) > 1:
            judged = self.hosts.filter(pl.col("server") + pl.col("client") > 1)
            kept = judged.filter(pl.col("verdict").str.starts_with("always")).height
            told.append(f"{kept} of {judged.height} hosts judged in two traces or more keep their role in all of them")
        return told

    def write(self, path: str | os.PathLike[str]) -> str:
        """Write the hosts as CSV: ``host,role`` and their features, a role per trace; one a hosts file can be made of.

        Raises
        ------
        MayflyError
            It cannot be written.
        """
        path = Path(path)
        if len(self.traces) == 1:
            table = self.traces[0]
        else:
            table = self.hosts
            for place, trace in enumerate(self.traces, start=1):
                table = table.join(trace.select("host", pl.col("role").alias(f"role_{place}")), on="host", how="left")
        with filled(path.parent, [path.name]) as partial:
            table.write_csv(partial / path.name)
        return str(path)


def applied(
    model: Model | str | os.PathLike[str],
    captures: Paths,
    *,
    internal: Sequence[str] | None = None,
    hosts: str | os.PathLike[str] | Mapping[str, str] | None = None,
    progress: Progress = None,
) -> Applied:
    """Tell the roles of hosts by a trained model.

    Parameters
    ----------
    model : Model or path
        What was trained, or its file.
    captures : sequence of path
        Each is a trace of its own.
    internal : str or sequence of str, optional
        CIDRs of the site.
    hosts : path or mapping of str, optional
        Known roles, to compare with.
    progress : callable, optional
        Called with the fraction done.

    Returns
    -------
    Applied

    Raises
    ------
    MayflyError
        As :func:`mayfly.profile.roles.model.read_model` and :func:`features_of`.
    """
    model = model if isinstance(model, Model) else read_model(model)
    known: Mapping[str, str] = {}
    if hosts is not None:
        known = hosts if isinstance(hosts, Mapping) else read_hosts(hosts)
    if not captures:
        raise MayflyError("captures = []: must be at least one file")
    traces = []
    for place, capture in enumerate(captures):
        traces.append(model.apply(features_of([capture], internal)))
        if progress is not None:
            progress((place + 1) / len(captures))
    names = tuple(Path(capture).name for capture in captures)
    return Applied(names, tuple(traces), over_traces(traces), dict(known))


def write_features(
    path: str | os.PathLike[str], features: pl.DataFrame, roles: Mapping[str, str], normalisation: str, least: int
) -> int:
    """Write features with known roles, for other programs.

    Parameters
    ----------
    path : path
        Ends in ``.arff`` for Weka: normalised features of the hosts with enough traffic, the class missing where it is
        not known. Else CSV: features as measured of all hosts, and ``role``.
    features : polars.DataFrame
        Of :func:`mayfly.profile.roles.features.host_features`.
    roles : mapping of str
        Known roles.
    normalisation, least
        As :func:`mayfly.profile.roles.model.train`.

    Returns
    -------
    int
        Hosts written.

    Raises
    ------
    MayflyError
        It cannot be written.
    """
    path = Path(path)
    with filled(path.parent, [path.name]) as partial:
        if path.suffix == ".arff":
            kept = features.filter(pl.Series(enough(features, least), dtype=pl.Boolean))
            text = arff_text(instances_of(kept, roles, normalisation), "hosts")
            (partial / path.name).write_text(text + "\n", encoding="utf-8")
            return kept.height
        role = [roles.get(host) for host in features["host"]]
        table = features.with_columns(pl.Series("role", role, dtype=pl.String))
        table.select("host", "role", pl.exclude("host", "role")).write_csv(partial / path.name)
        return features.height
