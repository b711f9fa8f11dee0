"""Instances for a classifier: attributes, classes and weights; read from and written to ARFF.

Source: the Attribute-Relation File Format of Weka (Witten and Frank 2005, 2.4), dense form.
"""

from __future__ import annotations

import csv
import math
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from mayfly.arrays import Floats, Integers
from mayfly.errors import MayflyError

NUMERIC = ("numeric", "real", "integer")


@dataclass(frozen=True)
class Attribute:
    """A column.

    Parameters
    ----------
    name : str
        As it is shown.
    values : tuple of str, optional
        Of a nominal attribute; None for a number.
    """

    name: str
    values: tuple[str, ...] | None = None


@dataclass(frozen=True, eq=False)
class Instances:
    """Rows to learn from, or to classify.

    Parameters
    ----------
    attributes : tuple of Attribute
        Without the class.
    classes : tuple of str
        Names of the classes.
    values : numpy.ndarray, shape (n, n_attributes)
        Numbers, of nominal attributes the index of the value; NaN where it is missing.
    labels : numpy.ndarray of int, shape (n,)
        Index of the class; -1 where it is unknown.
    """

    attributes: tuple[Attribute, ...]
    classes: tuple[str, ...]
    values: Floats
    labels: Integers

    def __len__(self) -> int:
        return len(self.labels)

    def chosen(self, rows: Integers) -> Instances:
        """Some of the rows."""
        return Instances(self.attributes, self.classes, self.values[rows], self.labels[rows])

    def labelled(self) -> Instances:
        """Rows whose class is known."""
        return self.chosen(np.flatnonzero(self.labels >= 0))


def read_arff(path: str | os.PathLike[str]) -> Instances:
    """Read an ARFF file; the class is its last attribute.

    Parameters
    ----------
    path : path
        Dense ARFF with numeric and nominal attributes, the last one nominal.

    Returns
    -------
    Instances

    Raises
    ------
    MayflyError
        The file cannot be read, holds another kind of attribute, sparse rows, or a row that does not fit.
    """
    path = Path(path)
    try:
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError as error:
        raise MayflyError(f"{path}: cannot be read: {error.strerror or error}") from None
    attributes: list[Attribute] = []
    for place, line in enumerate(lines, start=1):
        word = line.strip().lower()
        if word.startswith("@attribute"):
            attributes.append(_attribute(line.strip(), f"{path}, line {place}"))
        elif word == "@data":
            break
    else:
        raise MayflyError(f"{path}: no line @data: not an ARFF file")
    if len(attributes) < 2 or attributes[-1].values is None:
        raise MayflyError(f"{path}: the last attribute, the class, must be nominal")
    rows = [
        _row(line, attributes, f"{path}, line {number}")
        for number, line in enumerate(lines[place:], start=place + 1)
        if line.strip() and not line.lstrip().startswith("%")
    ]
    table = np.array(rows, dtype=float).reshape(len(rows), len(attributes))
    labels = np.where(np.isnan(table[:, -1]), -1, table[:, -1]).astype(int)
    return Instances(tuple(attributes[:-1]), attributes[-1].values, table[:, :-1], labels)


def _attribute(line: str, where: str) -> Attribute:
    found = re.fullmatch(r"@attribute\s+('(?:[^'\\]|\\.)*'|\"[^\"]*\"|\S+)\s+(\{.*\}|\S.*)", line, re.IGNORECASE)
    if found is None:
        raise MayflyError(f"{where}: not an attribute: {line[:60]}")
    name, kind = _bare(found[1]), found[2].split("%")[0].strip()
    if kind.startswith("{"):
        return Attribute(name, tuple(_split(kind.strip("{} \t"))))
    if kind.lower().split()[0] not in NUMERIC:
        raise MayflyError(f"{where}: attribute of type {kind.split()[0]}: must be numeric or nominal")
    return Attribute(name)


def _row(line: str, attributes: Sequence[Attribute], where: str) -> list[float]:
    if line.lstrip().startswith("{"):
        raise MayflyError(f"{where}: sparse rows are not read")
    cells = _split(line)
    if len(cells) != len(attributes):
        raise MayflyError(f"{where}: {len(cells)} values: must be {len(attributes)}")
    return [_value(cell, attribute, where) for cell, attribute in zip(cells, attributes, strict=True)]


def _value(cell: str, attribute: Attribute, where: str) -> float:
    if cell == "?":
        return math.nan
    if attribute.values is None:
        try:
            return float(cell)
        except ValueError:
            raise MayflyError(f"{where}: {attribute.name} = {cell}: must be a number") from None
    if cell not in attribute.values:
        raise MayflyError(f"{where}: {attribute.name} = {cell}: must be one of {', '.join(attribute.values)}")
    return float(attribute.values.index(cell))


def _split(text: str) -> list[str]:
    quote = '"' if '"' in text else "'"
    return [_bare(cell) for cell in next(csv.reader([text], quotechar=quote, skipinitialspace=True, escapechar="\\"))]


def _bare(word: str) -> str:
    word = word.strip()
    return word[1:-1].replace("\\'", "'") if len(word) > 1 and word[0] == word[-1] and word[0] in "'\"" else word


def arff_text(instances: Instances, relation: str) -> str:
    """Write instances as ARFF, so that other programs can learn from the same rows.

    Parameters
    ----------
    instances : Instances
        With names that hold no quotes.
    relation : str
        Name of the table.

    Returns
    -------
    str

    Examples
    --------
    >>> rows = Instances((Attribute("size"),), ("a", "b"), np.array([[1.5], [np.nan]]), np.array([1, -1]))
    >>> print(arff_text(rows, "two"))
    @relation 'two'
    @attribute 'size' numeric
    @attribute 'class' {'a','b'}
    @data
    1.5,'b'
    ?,?
    """

    def kind(values: tuple[str, ...] | None) -> str:
        return "numeric" if values is None else "{" + ",".join(f"'{value}'" for value in values) + "}"

    def cell(value: float, values: tuple[str, ...] | None) -> str:
        if math.isnan(value):
            return "?"
        return repr(float(value)) if values is None else f"'{values[int(value)]}'"

    lines = [f"@relation '{relation}'"]
    lines += [f"@attribute '{attribute.name}' {kind(attribute.values)}" for attribute in instances.attributes]
    lines += [f"@attribute 'class' {kind(instances.classes)}", "@data"]
    for row, label in zip(instances.values, instances.labels, strict=True):
        cells = [cell(value, attribute.values) for value, attribute in zip(row, instances.attributes, strict=True)]
        lines.append(",".join([*cells, cell(math.nan if label < 0 else label, instances.classes)]))
    return "\n".join(lines)
