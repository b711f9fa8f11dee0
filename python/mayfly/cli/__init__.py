"""The command line: options in, tables and files out. No logic lives here.

Importing this module costs nothing: what a command needs is imported by the command.
"""


def main() -> None:
    """Entry point of the `mayfly` command; the process exits with one of the statuses of `mayfly.cli.process`."""
    from mayfly.cli.process import run

    run()
