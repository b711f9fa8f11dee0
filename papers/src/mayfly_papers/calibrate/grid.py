"""Settings that are tried: all combinations of the declared values, or a Sobol sample of them.

Most unknowns change few experiments, so that far fewer runs differ than settings do: every setting of a grid of a
million is judged from some thousand runs.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import qmc

from mayfly.errors import MayflyError
from mayfly.text.nearest import hint
from mayfly_papers.declare.declaration import Experiment
from mayfly_papers.declare.unknowns import Calibration, Setting, Unknown

MOST_SETTINGS = 4_000_000
"""Settings judged at most: some 0.5 GB."""

_PROBES, _SEED = 24, 1
"""Random settings that show which unknowns an experiment depends on, and as many that check it."""

Indices = np.ndarray
"""Which value of each unknown a setting has, shape ``(n_settings, n_unknowns)``."""


def setting_of(unknowns: Sequence[Unknown], index: Sequence[int]) -> dict[str, float | str]:
    """A setting from the places of its values."""
    return {unknown.id: unknown.values[place] for unknown, place in zip(unknowns, index, strict=True)}


def index_of(unknowns: Sequence[Unknown], setting: Setting) -> tuple[int, ...]:
    """The places of a setting's values."""
    return tuple(unknown.values.index(setting[unknown.id]) for unknown in unknowns)


def fixed_of(unknowns: Sequence[Unknown], given: Iterable[str]) -> dict[int, int]:
    """Places of unknowns and of their values, from ``ID=VALUE``.

    Raises
    ------
    MayflyError
        No such unknown, or a value that it does not have.

    Examples
    --------
    >>> fixed_of([Unknown("law", "", ("even", "odd"), ""), Unknown("rate", "", (5, 0.5), "")], ["rate=0.5"])
    {1: 1}
    """
    ids, found = [unknown.id for unknown in unknowns], {}
    for text in given:
        name, _, value = text.partition("=")
        if name not in ids:
            near = hint(name, ids) or f", of {', '.join(ids)}"
            raise MayflyError(f"--fix {text}: must be ID=VALUE{near}")
        place = ids.index(name)
        told = [own if isinstance(own, str) else f"{own:.4g}" for own in unknowns[place].values]
        if value not in told:
            raise MayflyError(f"--fix {text}: must be one of {', '.join(told)}")
        found[place] = told.index(value)
    return found


def indices(calibration: Calibration, most: int | None = None, fixed: Mapping[int, int] | None = None) -> Indices:
    """Settings to try, the first one of the page among them.

    Parameters
    ----------
    calibration : Calibration
        With the unknowns.
    most : int, optional
        At most so many: a scrambled Sobol sequence over the grid where that has more.
    fixed : mapping, optional
        Unknowns that are not searched, with the place of the value that they have.

    Returns
    -------
    ndarray of int, shape ``(n_settings, n_unknowns)``
        Sorted, without duplicates.

    Raises
    ------
    MayflyError
        ``most`` is below 2, or the whole grid is too large.
    """
    fixed = fixed or {}
    unknowns = calibration.unknowns
    levels = [1 if place in fixed else len(unknown.values) for place, unknown in enumerate(unknowns)]
    held = np.array([fixed.get(place, 0) for place in range(len(levels))])
    size = math.prod(levels)
    if most is not None and most < 2:
        raise MayflyError(f"--settings {most}: must be at least 2")
    if most is None or most >= size:
        if size > MOST_SETTINGS:
            raise MayflyError(f"{size:,} settings: must be at most {MOST_SETTINGS:,}; --settings N takes a sample")
        return np.stack(np.unravel_index(np.arange(size), levels), axis=1) + held
    if most > MOST_SETTINGS:
        raise MayflyError(f"--settings {most}: must be at most {MOST_SETTINGS:,}")
    points = qmc.Sobol(len(levels), rng=np.random.default_rng(_SEED)).random_base2(math.ceil(math.log2(most)))[:most]
    drawn = np.minimum((points * levels).astype(int), np.array(levels) - 1)
    first = index_of(unknowns, calibration.first)
    own = [fixed.get(place, value) for place, value in enumerate(first)]
    return np.unique(np.vstack([drawn[:-1] + held, own]), axis=0)


@dataclass(frozen=True)
class Varied:
    """An experiment in all settings.

    Parameters
    ----------
    id : str
    unknowns : tuple of int
        Places of the unknowns that change it, or how its rows count.
    """

    id: str
    unknowns: tuple[int, ...]


def _key(experiment: Experiment, measures: Mapping[str, str]) -> str:
    fields = sorted((name, str(value)) for name, value in experiment.overrides.items())
    return repr((experiment.scenario, fields, experiment.disciplines, sorted(measures.items())))


def varied(calibration: Calibration) -> tuple[Varied, ...]:
    """Which unknowns each experiment depends on, found by changing one at a time in random settings.

    Raises
    ------
    MayflyError
        Experiments have other ids in another setting, or depend on what these changes did not show.
    """
    unknowns, rng = calibration.unknowns, np.random.default_rng(_SEED)
    levels = [len(unknown.values) for unknown in unknowns]
    first = index_of(unknowns, calibration.first)
    drawn = [tuple(map(int, rng.integers(0, levels))) for _ in range(2 * _PROBES)]
    ids = [own.id for own in calibration.experiments(calibration.first)]

    def keys(index: Sequence[int]) -> dict[str, str]:
        setting = setting_of(unknowns, index)
        made, measures = calibration.experiments(setting), calibration.measures(setting)
        if [own.id for own in made] != ids:
            raise MayflyError(f"experiments of {setting}: must have the ids of the first setting, in its order")
        return {own.id: _key(own, measures) for own in made}

    on: dict[str, set[int]] = {own: set() for own in ids}
    for base in (first, *drawn[:_PROBES]):
        here = keys(base)
        for place, count in enumerate(levels):
            for value in range(count):
                if value != base[place]:
                    there = keys((*base[:place], value, *base[place + 1 :]))
                    for own in ids:
                        if here[own] != there[own]:
                            on[own].add(place)
    for index in drawn[_PROBES:]:
        here = keys(index)
        for own in ids:
            alike = tuple(index[place] if place in on[own] else first[place] for place in range(len(levels)))
            if keys(alike)[own] != here[own]:
                raise MayflyError(
                    f"{own}: depends on an unknown that changes it only beside others: declare one unknown"
                )
    return tuple(Varied(own, tuple(sorted(on[own]))) for own in ids)
