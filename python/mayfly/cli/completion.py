"""The command ``mayfly completion``, and what completes the values of options."""

from typing import Annotated

import typer

SHELLS = {
    "bash": "mayfly completion bash > ~/.local/share/bash-completion/completions/mayfly",
    "zsh": "mayfly completion zsh > ~/.zfunc/_mayfly   (with fpath+=~/.zfunc before compinit in ~/.zshrc)",
    "fish": "mayfly completion fish > ~/.config/fish/completions/mayfly.fish",
}
"""Where each shell looks for completions."""


def _shells(incomplete: str) -> list[str]:
    return [name for name in SHELLS if name.startswith(incomplete)]


def completion(
    shell: Annotated[str, typer.Argument(metavar="SHELL", help="bash, zsh or fish", autocompletion=_shells)],
) -> None:
    """Print what completes commands and names in a shell."""
    from typer.completion import get_completion_script  # type: ignore[attr-defined]

    from mayfly.cli.app import COMPLETING
    from mayfly.errors import MayflyError
    from mayfly.text.nearest import expected
    from mayfly.text.readable import printable

    if shell not in SHELLS:
        raise MayflyError(f"SHELL = {printable(shell)}: {expected(shell, SHELLS)}")
    typer.echo(get_completion_script(prog_name="mayfly", complete_var=COMPLETING, shell=shell))


def scenarios(incomplete: str) -> list[str]:
    """Complete names of ready scenarios; a shell completes files where none fits.

    Parameters
    ----------
    incomplete : str
        What was typed of the word.

    Returns
    -------
    list of str
    """
    from mayfly.scenario.scenario import ready_names

    return [name for name in ready_names() if name.startswith(incomplete)]


def disciplines(incomplete: str) -> list[str]:
    """Complete the last of several disciplines, and the names of families.

    Parameters
    ----------
    incomplete : str
        What was typed of the word: ``fifo,fq_``.

    Returns
    -------
    list of str

    Examples
    --------
    >>> disciplines("fifo,fq_c")
    ['fifo,fq_codel']
    """
    from mayfly.discipline_registry import FAMILIES
    from mayfly.discipline_registry import disciplines as registered

    before, comma, last = incomplete.rpartition(",")
    sign = "-" if last.startswith("-") else ""
    known = [row["id"] for row in registered()] + ["all", *(name.replace(" ", "-") for name in FAMILIES)]
    return [before + comma + sign + name for name in known if name.startswith(last.removeprefix("-"))]


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command(epilog="Example:  mayfly completion bash > ~/.local/share/bash-completion/completions/mayfly")(
        completion
    )
