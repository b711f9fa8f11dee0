"""Scripts and bursts as tests write them."""

import polars as pl

from mayfly.workload import bursts, scripts
from mayfly.workload.lists import in_text


def trains_of(text):
    """The trains of a script."""
    (row,) = scripts.checked(pl.Series([text]))["script"].to_list()
    return scripts.trains(row)


def text_of(trains):
    """A script as text."""
    return scripts.written(scripts.column([trains])).item()


def in_memory(*texts):
    """The column of scripts with these texts, null for None."""
    return scripts.checked(pl.Series(texts, dtype=pl.String))["script"]


def bursts_of(text):
    """A table of the bursts of a text."""
    return bursts.checked(pl.Series([text]))["bursts"][0].struct.unnest()


def texts(flows, name="script"):
    """A column of a flow list as files have it."""
    return in_text(flows)[name].to_list()
