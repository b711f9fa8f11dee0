"""Scenario section of a size law, made of the registry of laws."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field, create_model

from mayfly.errors import MayflyError
from mayfly.fields import Section
from mayfly.laws import registry as laws
from mayfly.laws.parameter import Parameter

if TYPE_CHECKING:
    from mayfly.laws.sizes import SizeLaw

if TYPE_CHECKING:
    LawName = str
else:
    LawName = Literal[tuple(laws.LAWS)]
    """Id of a law."""

SIZES = "size law, a table such as { law = 'lognormal', mean = 40, cov = 3 }"


class _Sizes(Section):
    """Law of sizes; what each takes is in the table of the laws."""

    law: LawName = Field(description="one of the laws")

    def drawn(self, where: str) -> SizeLaw:
        """The law of the workload; errors begin with ``where``, the dotted name of the section."""
        try:
            return laws.law_of(self.law, self.model_dump(exclude={"law"}))
        except MayflyError as error:
            raise MayflyError(f"{where}: {error}") from None


def _described(rows: list[tuple[laws.Law, Parameter]]) -> str:
    """What a parameter is, once for all laws that mean the same by it."""
    meanings: dict[str, list[str]] = {}
    for law, parameter in rows:
        unit = f", {parameter.unit}" if parameter.unit else ""
        meanings.setdefault(parameter.about + unit, []).append(law.id)
    return "; ".join(f"{about} ({', '.join(of)})" for about, of in meanings.items())


_FIELDS: dict[str, Any] = {
    name: (float | None, Field(None, description=_described(rows))) for name, rows in laws.parameters().items()
}
_FILE = "CSV from the working directory: size_packets with cdf, or a measured size a row (empirical)"

Sizes = create_model(
    "Sizes",
    __base__=_Sizes,
    __module__=__name__,
    __doc__=_Sizes.__doc__,
    **_FIELDS,
    file=(str | None, Field(None, description=_FILE)),
)
"""Section ``[workload.sizes]``: the law and every parameter that some law takes."""
