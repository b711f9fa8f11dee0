"""Arguments and options that the commands of ``mayfly profile`` share."""

from pathlib import Path
from typing import Annotated

import typer

Captures = Annotated[
    list[Path],
    typer.Argument(metavar="CAPTURE...", help="Captures (pcap or pcapng, .gz too), or tables of connections (Parquet)"),
]
Internal = Annotated[
    list[str] | None,
    typer.Option(metavar="CIDR", help="Network of the site; repeatable; inferred if absent"),
]
AsJson = Annotated[bool, typer.Option("--json", help="One JSON document on standard output and nothing else")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress bar")]
