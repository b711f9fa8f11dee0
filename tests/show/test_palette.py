"""Colours that can be told apart, by readers with any colour vision, on white and on black."""

from itertools import combinations

import numpy as np
import pytest

from mayfly.show.palette import styles

FAMILIES = ("plain", "size-based", "fair queueing", "queue management")
# Machado, Oliveira and Fernandes 2009, severity 1; on linear RGB.
VISION = {
    "normal": np.eye(3),
    "protanopia": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deuteranopia": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    "tritanopia": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
}
PAGES = {"light": "#ffffff", "dark": "#14171a"}


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


def thirty():
    families = {f"{family} {at}": family for family in FAMILIES for at in range(1 if family == "plain" else 12)}
    return families, styles(list(families), families)


@pytest.mark.parametrize("vision", VISION)
def test_families_are_told_apart_by_any_eye(vision):
    families, found = thirty()
    colours = {(families[label], style.colour) for label, style in found.items()}
    pairs = [(a, b) for a, b in combinations(sorted(colours), 2) if a[0] != b[0]]
    for (one, first), (other, second) in pairs:
        assert apart(first, second, vision) >= (0.06 if "plain" in (one, other) else 0.08), (first, second)


@pytest.mark.parametrize("page", PAGES)
def test_every_colour_stands_out_from_the_page(page):
    _, found = thirty()
    colours = {style.colour for style in found.values()} | {
        style.colour for style in styles(list("abcdefghij")).values()
    }
    for colour in colours:
        assert contrast(colour, PAGES[page]) >= 2.5, colour


def test_twelve_members_of_a_family_look_different():
    families, found = thirty()
    for family in FAMILIES[1:]:
        own = [style for label, style in found.items() if families[label] == family]
        assert len({(style.colour, style.dash) for style in own}) == 12
        assert len({style.symbol.removesuffix("-open") for style in own}) == 1
    assert len({style.symbol.removesuffix("-open") for style in found.values()}) == 4


def test_the_baseline_is_thicker():
    _, found = thirty()
    widths = [style.width for style in found.values()]
    assert widths[0] > widths[1] and len(set(widths[1:])) == 1


def test_of_two_families_every_member_has_a_colour_of_its_own():
    families = {"fifo": "plain"} | {f"efd({at})": "size-based" for at in range(8)}
    assert len({style.colour for style in styles(list(families), families).values()}) == 9


def test_above_ten_colours_return_with_another_dash():
    found = styles([str(at) for at in range(25)])
    assert len({(style.colour, style.dash) for style in found.values()}) == 25
