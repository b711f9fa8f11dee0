"""Whether ``mayfly simulate`` runs its flows as a list or as a stream."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from mayfly.errors import MayflyError
from mayfly.scenario.scenario import Scenario


@dataclass(frozen=True)
class Choice:
    """What was chosen.

    Parameters
    ----------
    is_stream : bool
        Whether the flows are a stream.
    reason : str
        A sentence on it, where nobody asked for it; else empty.
    """

    is_stream: bool
    reason: str = ""


def choose_stream(
    scenario: Scenario,
    flows: Path | None,
    *,
    asked: bool | None,
    engine: str,
    no_flows: bool,
    lists_only: Mapping[str, object],
) -> Choice:
    """Chooses a list or a stream.

    Parameters
    ----------
    scenario : Scenario
        What runs.
    flows : path, optional
        A flow list in place of the workload.
    asked : bool, optional
        What the user asked for; when None, flows that are drawn are a stream if very many are expected.
    engine : str
        The fluid engine has streams only.
    no_flows : bool
        Whether the user does without records, as only runs of a stream can.
    lists_only : mapping
        Options that only runs of a list have, by name; those given are true.

    Returns
    -------
    Choice

    Raises
    ------
    MayflyError
        Options that do not go together.
    """
    given = next((name for name, value in lists_only.items() if value), None)
    if engine != "simulator":
        if asked is False:
            raise MayflyError(f"--no-stream: must be left out with --engine {engine}")
        asked = True
    if asked is None and not no_flows:
        return _by_number(scenario, flows, given)
    if not asked:
        if no_flows:
            raise MayflyError("--no-flows: must be given with --stream")
        return Choice(False)
    if given is not None:
        raise MayflyError(f"{given}: must be left out of a run of a stream")
    return Choice(True)


def refuse_beside_windows(given: Mapping[str, object], engine: str) -> None:
    """Refuses options that do not go with windows.

    Parameters
    ----------
    given : mapping
        Options by name; those given are true.
    engine : str
        What runs.

    Raises
    ------
    MayflyError
        There is one.
    """
    name = next((name for name, value in given.items() if value), None)
    name = f"--engine {engine}" if name is None and engine != "simulator" else name
    if name is not None:
        raise MayflyError(f"{name}: must be left out with --windows, which draws its flows and keeps no records")


def refuse_without_windows(given: Mapping[str, object]) -> None:
    """Refuses options that only windows have.

    Parameters
    ----------
    given : mapping
        Options by name; those given are not None.

    Raises
    ------
    MayflyError
        There is one.
    """
    for name, value in given.items():
        if value is not None:
            raise MayflyError(
                f"{name} {value}: must be with --windows N, whose windows have an overlap and run on workers"
            )


def _by_number(scenario: Scenario, flows: Path | None, given: str | None) -> Choice:
    if flows is not None or given is not None or scenario.replications > 1:
        return Choice(False)
    from mayfly.simulate.streamed import ABOVE, expected_transfers, has_stream

    expected = expected_transfers(scenario)
    if expected < ABOVE or not has_stream(scenario):
        return Choice(False)
    return Choice(True, f"{expected:.3g} transfers are expected: they run as a stream; --no-stream has a list")
