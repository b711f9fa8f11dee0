"""What a run of real programs left in its folder, checked before it is believed."""

import json
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from mayfly.errors import MayflyError
from mayfly.text.files import bounded_text, first_line
from mayfly.text.readable import printable

LARGEST_BYTES = 256 << 20
"""Of the file: a run of two minutes has some hundred kB."""

_MOST = 2**53

Number = Annotated[float, Field(strict=True, ge=-1e12, le=1e12, allow_inf_nan=False)]
Count = Annotated[int, Field(strict=True, ge=0, le=_MOST)]
Word = Annotated[str, Field(strict=True)]


class _Checked(BaseModel):
    model_config = ConfigDict(extra="allow")


class _Transfer(_Checked):
    time_s: Number


class _Frames(_Checked):
    sent_s: list[Number | None]
    received_s: list[Number | None]


class _Ways(_Checked):
    down: _Frames
    up: _Frames


class _Step(_Checked):
    actor: Word
    client: Count
    step: Count
    program: Word
    start_s: Number
    end_s: Number | None = None
    bytes: Count | None = None
    transfers: list[_Transfer] | None = None
    segments_s: list[Number] | None = None
    rtts_s: list[Number] | None = None
    ways: _Ways | None = None
    loss: Number | None = None

    @model_validator(mode="after")
    def _has_figures(self) -> Self:
        """A step that ended well has what its program measures."""
        if "end_s" not in self.model_fields_set or "failed" in (self.model_extra or {}):
            return self
        needed = {"ping": "rtts_s", "page": "transfers", "call": "ways"}.get(self.program)
        for name in ("end_s", "bytes", *([needed] if needed else [])):
            if getattr(self, name) in (None, []):
                raise ValueError(f"{name} is missing of a step that ended")
        return self


class _Queue(_Checked):
    drops: Count
    bytes: Count = 0


class _Queues(_Checked):
    down: _Queue
    up: _Queue


class _Stored(_Checked):
    steps: list[_Step]
    down: _Queue
    up: _Queue
    kernel: Word
    clock_s: Number
    modem: _Queues | None = None
    check: dict[str, Any] | None = None


def read_ran(path: Path) -> dict[str, Any]:
    """Read what a run left.

    Parameters
    ----------
    path : Path
        ``ran.json`` of its folder.

    Returns
    -------
    dict
        As the guest wrote it.

    Raises
    ------
    MayflyError
        It cannot be read, or is not what a run writes; one line with the file and the place.
    """
    said = f"{printable(path)}: not what a run of real programs left: {{}}: remove its folder to run them again"
    try:
        found = json.loads(bounded_text(path, LARGEST_BYTES))
        _Stored.model_validate(found)
    except ValidationError as error:
        (first, *_) = error.errors(include_url=False)
        where = ".".join(str(part) for part in first["loc"])
        raise MayflyError(said.format(printable(f"{where}: {first['msg']}".lstrip(": ")))) from None
    except RecursionError:
        raise MayflyError(said.format("too deep")) from None
    except (OSError, ValueError) as error:
        raise MayflyError(said.format(first_line(error))) from None
    checked: dict[str, Any] = found
    return checked
