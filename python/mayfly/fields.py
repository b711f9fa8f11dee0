"""Types of scenario fields: how a user writes each, and what is refused."""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, PlainValidator

from mayfly import discipline_registry
from mayfly.errors import MayflyError
from mayfly.text import quantity


def _refusing(convert: Callable[[Any, str], object]) -> BeforeValidator:
    """The converter as a validator: pydantic reports ValueError only."""

    def validate(value: object) -> object:
        try:
            return convert(value, "value")
        except MayflyError as error:
            raise ValueError(str(error).rpartition(": ")[2]) from None

    return BeforeValidator(validate)


def _bytes(value: object, name: str) -> int:
    """Bytes as a plain number, or with a unit."""
    try:
        limit, unit = quantity.buffer(f"{value}B" if type(value) is int else value, name)
    except MayflyError:
        limit, unit = 0, ""
    if unit != "bytes" or limit >= 1 << 32:
        raise MayflyError(f"{name} = {quantity.shown(value)}: must be bytes, such as 2346 or 64kB, below 4GB")
    return limit


def _discipline_or(word: str) -> AfterValidator:
    """A discipline, or a word in its place."""

    def validate(text: str | None) -> str | None:
        if text not in (None, word):
            try:
                discipline_registry.parse(text)
            except MayflyError as error:
                raise ValueError(f"must be `{word}` or a discipline: {error}") from None
        return text

    return AfterValidator(validate)


def _name(text: str | None) -> str | None:
    """Refuses what is no name."""
    if text is not None and not (1 <= len(text) <= 255 and text.isprintable()):
        raise ValueError("must be a name of 1 to 255 printable characters")
    return text


Rate = Annotated[int, _refusing(quantity.rate_bps)]
Seconds = Annotated[float, _refusing(quantity.seconds)]
Delay = Annotated[Seconds, Field(le=60)]
Buffer = Annotated[tuple[int, Literal["packets", "bytes"]], _refusing(quantity.buffer)]
Bytes = Annotated[int, _refusing(_bytes)]
Whole = Annotated[int, Field(strict=True)]
Name = Annotated[str, AfterValidator(_name)]
Group = Annotated[str | None, AfterValidator(_name)]
Loss = Annotated[float, Field(ge=0, lt=1)]
Reverse = Annotated[str, _discipline_or("same")]
Compared = Annotated[str, _discipline_or("compare")]


def as_written(default: str | int) -> Any:
    """A default as a user would write it; :class:`Section` turns it into a value of the field.

    Of type Any: pydantic checks it (``validate_default``), which a type checker cannot see.
    """
    return default


class Section(BaseModel):
    """A table of a scenario file."""

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        validate_default=True,
        allow_inf_nan=False,
        defer_build=True,
        # `from` is a word of Python.
        populate_by_name=True,
        serialize_by_alias=True,
    )


@dataclass(frozen=True)
class Later:
    """A section whose module is imported where a scenario has one, or its fields are asked for.

    The sections that few scenarios have take longer to import and to build than a short run takes.

    Parameters
    ----------
    module, name : str
        Where the class is, and its name.
    """

    module: str
    name: str

    @property
    def model(self) -> type[Section]:
        """The class."""
        found: type[Section] = getattr(import_module(self.module), self.name)
        return found

    def __call__(self, value: object) -> Section:
        """Check a table as the section; what is refused has its place in the table."""
        return self.model.model_validate(value)

    @property
    def field(self) -> Any:
        """The type of a field that holds such a section."""
        return Annotated[Any, PlainValidator(self)]


def section_of(kind: Any) -> type[BaseModel] | None:
    """The section that a type of fields stands for, imported if it is a :class:`Later`; None for any other type."""
    for validator in getattr(kind, "__metadata__", ()):
        if isinstance(found := getattr(validator, "func", None), Later):
            return found.model
    return kind if isinstance(kind, type) and issubclass(kind, BaseModel) else None
