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

Workers = Annotated[
    int | None,
    typer.Option(metavar="N", help="Read the captures by N processes of this machine, in shards by connection"),
]
Cluster = Annotated[
    str | None,
    typer.Option(
        metavar="tls://HOST:PORT", help="The same by the workers of this Dask scheduler; dask://: no encryption"
    ),
]
Certificates = Annotated[
    Path | None,
    typer.Option("--cluster-certificates", metavar="DIR", help="What mayfly sweep certificates wrote, with tls://"),
]
Shards = Annotated[
    Path | None,
    typer.Option(metavar="DIR", help="Folder for the shards that all workers see; that for temporary files if absent"),
]
