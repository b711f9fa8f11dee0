"""Figures of the papers as pictures: each names what it draws."""

from collections.abc import Sequence

import pytest

from mayfly.papers import ITEMS
from mayfly.papers.pictures import Drawing, Picture

DRAWINGS = [drawing for item in ITEMS for drawing in item.pictures]


def assert_drawn(drawing: Drawing, pictures: Sequence[Picture]) -> None:
    """Pictures are those that a drawing says it draws, in the order of the paper, each with a key of its own."""
    named = [name for picture in pictures for name in picture.exhibits]
    assert list(dict.fromkeys(named)) == drawing.exhibits
    assert all(picture.exhibits for picture in pictures)
    assert len({picture.key for picture in pictures}) == len(pictures)


@pytest.mark.parametrize("drawing", DRAWINGS, ids=lambda drawing: drawing.source)
def test_a_drawing_names_figures_of_a_paper(drawing):
    assert drawing.exhibits and all("-fig-" in name for name in drawing.exhibits)
