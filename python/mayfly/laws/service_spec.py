"""Laws of sizes in a line: `bounded-pareto:min=1,max=1e6,alpha=1.1`, `exponential:mean=1`, `sample:sizes.csv`.

The names are those of :mod:`mayfly.laws.registry`, and what textbooks call them; sizes may be in any unit.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from mayfly.errors import MayflyError
from mayfly.laws.registry import LAWS, law_of
from mayfly.laws.service import Continuous, Discrete, ServiceLaw, deterministic
from mayfly.text.nearest import expected

if TYPE_CHECKING:
    import polars as pl

NAMES = {"bounded-pareto": "pareto", "bounded-zipf": "zipf", "lomax": "pareto-ii", "constant": "deterministic"}
"""Other names of laws."""

PARAMETERS = {"min": "minimum", "max": "maximum", "size": "value"}
"""Other names of parameters; ``alpha`` is the exponent or the shape, whichever the law has."""

COLUMNS = ("size", "size_packets", "size_bytes")
"""Columns of a table that hold sizes, the first found is taken."""

OTHERS = {
    "deterministic": "value=",
    "sample": "FILE with a size a line, or a table with size, size_packets or size_bytes, and cdf if it has steps",
}
"""Laws the registry of workloads does not have in this form, with what they take."""


def service_law(spec: str) -> ServiceLaw:
    """The law of a line.

    Parameters
    ----------
    spec : str
        ``NAME:PARAMETER=VALUE,...`` with a law of :data:`mayfly.laws.registry.LAWS` or its textbook name, or
        ``sample:FILE``.

    Returns
    -------
    ServiceLaw
        Whole sizes for ``zipf``, else real ones.

    Raises
    ------
    MayflyError
        The law is unknown, a parameter is missing, unknown or out of its bounds, or the file cannot be read.

    Examples
    --------
    >>> round(service_law("bounded-pareto:min=1,max=1e6,alpha=1.1").mean, 4)
    8.2369
    >>> service_law("zipf:min=6,mean=40,cov=6").largest
    12121.0
    >>> service_law("exponential:rate=1")
    Traceback (most recent call last):
    mayfly.errors.MayflyError: rate = 1.0: law exponential takes mean
    """
    name, _, rest = spec.partition(":")
    name = NAMES.get(name.strip(), name.strip())
    if name == "sample":
        return read_sample(rest)
    if name == "empirical":
        raise MayflyError(f"law = {spec}: a measured law is spelled sample:FILE")
    given = _numbers(spec, rest)
    if name == "deterministic":
        if set(given) != {"value"}:
            raise MayflyError(f"law = {spec}: deterministic takes value, such as deterministic:value=1")
        return deterministic(given["value"])
    if "alpha" in given and name in LAWS:
        own = next((key for key in ("exponent", "shape") if key in LAWS[name].names()), "alpha")
        given[own] = given.pop("alpha")
    if name not in LAWS:
        _refuse(name)
    from mayfly.laws.continuous import ContinuousLaw
    from mayfly.laws.sizes import BoundedPareto, BoundedZipf, Exponential

    law = law_of(name, given)
    if isinstance(law, BoundedZipf):
        return Discrete(np.arange(law.minimum, law.maximum + 1, dtype=float), law.weights(law.exponent + 1))
    if isinstance(law, BoundedPareto) and law.minimum == law.maximum:
        return deterministic(law.minimum)
    assert isinstance(law, ContinuousLaw | BoundedPareto | Exponential), "the laws of whole sizes are taken above"
    return Continuous(law)


def _refuse(name: str) -> None:
    known = sorted({*LAWS, *NAMES, *OTHERS} - {"empirical"})
    raise MayflyError(f"law = {name}: unknown law; {expected(name, known)}")


def _numbers(spec: str, rest: str) -> dict[str, float]:
    found: dict[str, float] = {}
    for part in filter(None, (part.strip() for part in rest.split(","))):
        name, _, value = (piece.strip() for piece in part.partition("="))
        try:
            number = float(value)
        except ValueError:
            raise MayflyError(f"law = {spec}: {part}: must be NAME=NUMBER") from None
        found[PARAMETERS.get(name, name)] = number
    return found


def read_sample(file: str | os.PathLike[str]) -> Discrete:
    """The law of measured sizes.

    Parameters
    ----------
    file : path
        A number a line; or a CSV or Parquet table with a column of sizes, each row a job, or with ``cdf`` a step of the
        distribution function. Flow lists, flow records and sub-flow tables are such tables.

    Returns
    -------
    Discrete
        In the unit of the file.

    Raises
    ------
    MayflyError
        The file cannot be read, or holds no sizes.
    """
    if not os.fspath(file):
        raise MayflyError("law = sample: must name a file, sample:FILE")
    table = _table(file)
    sizes = next((name for name in COLUMNS if name in table.columns), None)
    if sizes is None:
        raise MayflyError(f"{file}: must have a column {', '.join(COLUMNS[:-1])} or {COLUMNS[-1]}")
    chosen = table.select([sizes, *(["cdf"] if "cdf" in table.columns else [])]).drop_nulls()
    try:
        values = chosen[sizes].cast(float).to_numpy()
        if "cdf" not in chosen.columns:
            return Discrete(values)
        order = np.argsort(values)
        return Discrete(values[order], np.diff(chosen["cdf"].cast(float).to_numpy()[order], prepend=0.0))
    except MayflyError as error:
        raise MayflyError(f"{file}: {error}") from None
    except Exception as error:
        raise MayflyError(f"{file}: sizes must be numbers: {str(error).splitlines()[0][:100]}") from None


def _table(file: str | os.PathLike[str]) -> pl.DataFrame:
    import polars as pl

    from mayfly.text.parquet import read_parquet

    try:
        if os.fspath(file).endswith(".parquet"):
            return read_parquet(file)
        table = pl.read_csv(Path(file), infer_schema_length=None)
        # A headless list of numbers: the first of them was taken for the name of the column.
        if len(table.columns) == 1 and table.columns[0] not in COLUMNS:
            table = pl.read_csv(Path(file), has_header=False, new_columns=["size"])
        return table
    except (OSError, pl.exceptions.PolarsError) as error:
        reason = (str(error).strip().splitlines() or [type(error).__name__])[0][:120]
        raise MayflyError(f"{file}: not a table of sizes: {reason}") from None
