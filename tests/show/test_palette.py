"""Colours that can be told apart, by readers with any colour vision, on white and on black, and that never move."""

from itertools import combinations

import numpy as np
import pytest

from mayfly.discipline_registry import disciplines
from mayfly.show.palette import PALETTE, styles

# Machado, Oliveira and Fernandes 2009, severity 1; on linear RGB.
VISION = {
    "normal": np.eye(3),
    "protanopia": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deuteranopia": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    "tritanopia": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
}
PAGES = {"light": "#ffffff", "dark": "#14171a"}
# What is compared most: the shortlist of a link of today, and the size-based ones of the papers.
LEADING = ("fifo", "fq_codel", "cake", "codel", "pie", "efd", "lfq", "las", "red")


def linear(colour):
    value = np.array([int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)])
    return np.where(value <= 0.04045, value / 12.92, ((value + 0.055) / 1.055) ** 2.4)


def oklab(rgb):
    lms = np.cbrt(
        np.array(
            [
                [0.4122214708, 0.5363325363, 0.0514459929],
                [0.2119034982, 0.6806995451, 0.1073969566],
                [0.0883024619, 0.2817188376, 0.6299787005],
            ]
        )
        @ np.clip(rgb, 0, 1)
    )
    return (
        np.array(
            [
                [0.2104542553, 0.7936177850, -0.0040720468],
                [1.9779984951, -2.4285922050, 0.4505937099],
                [0.0259040371, 0.7827717662, -0.8086757660],
            ]
        )
        @ lms
    )


def apart(one, other, vision):
    return np.linalg.norm(oklab(VISION[vision] @ linear(one)) - oklab(VISION[vision] @ linear(other)))


def contrast(one, other):
    low, high = sorted(linear(colour) @ [0.2126, 0.7152, 0.0722] for colour in (one, other))
    return (high + 0.05) / (low + 0.05)


def test_every_discipline_of_the_registry_has_a_colour_of_its_own_row():
    assert {row["id"] for row in disciplines()} <= set(PALETTE)


@pytest.mark.parametrize("vision", VISION)
def test_those_compared_most_are_told_apart_by_any_eye(vision):
    for one, other in combinations(LEADING, 2):
        assert apart(PALETTE[one].colour, PALETTE[other].colour, vision) >= 0.08, (one, other)


@pytest.mark.parametrize("vision", VISION)
def test_of_one_colour_are_only_those_that_dashes_tell_apart(vision):
    for (one, first), (other, second) in combinations(PALETTE.items(), 2):
        if first.colour == second.colour:
            assert (first.dash, first.symbol) != (second.dash, second.symbol), (one, other)
            assert first.dash != second.dash, (one, other)
        else:
            assert apart(first.colour, second.colour, vision) >= 0.04, (one, other)


@pytest.mark.parametrize("page", PAGES)
def test_every_colour_stands_out_from_the_page(page):
    others = styles(list("abcdefghij")).values()
    for colour in {style.colour for style in (*PALETTE.values(), *others)}:
        assert contrast(colour, PAGES[page]) >= 2.5, colour


def test_a_discipline_looks_the_same_whatever_else_is_there():
    for labels in (
        ["efd", "fifo"],
        ["fifo", "las", "efd"],
        ["efd(threshold=30kB)", "efd"],
        ["lars", "pie", "efd", "x"],
    ):
        assert styles(labels)["efd"] == PALETTE["efd"]
        assert list(styles(labels)) == labels
    assert styles(["efd(threshold=30kB)"])["efd(threshold=30kB)"].colour == PALETTE["efd"].colour
    assert styles(["fifo (linux)"])["fifo (linux)"].colour == PALETTE["fifo"].colour


def test_a_dozen_variants_of_a_discipline_look_different():
    found = styles(["efd", *(f"efd(threshold={at})" for at in range(11))])
    assert len({(style.colour, style.dash) for style in found.values()}) == 12
    assert len({style.symbol for style in found.values()}) == 1


def test_the_baseline_is_thicker():
    assert all(PALETTE["fifo"].width > style.width for name, style in PALETTE.items() if name != "fifo")


def test_what_is_no_discipline_has_a_colour_that_none_of_those_present_has():
    found = styles(["efd", "fq_codel", "ours", "printed", "efdx"])
    assert len({style.colour for style in found.values()}) == 5


def test_above_ten_colours_return_with_another_dash():
    found = styles([f"curve {at}" for at in range(25)])
    assert len({(style.colour, style.dash) for style in found.values()}) == 25
