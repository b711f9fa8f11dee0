"""The plot library beside the reports of a folder instead of inside each of them."""

import base64
import hashlib
import os
import re
from pathlib import Path
from typing import Literal

from mayfly.errors import MayflyError
from mayfly.show.page import SCRIPT, inline, policy
from mayfly.text.files import complete

FOLDER = "mayfly-assets"
"""Of what the reports of a folder share."""

Kind = Literal["inline", "shared"]
KINDS: tuple[Kind, ...] = ("inline", "shared")


def refuse_unknown(kind: str) -> Kind:
    """Refuses what is no way to carry the library.

    Parameters
    ----------
    kind : str
        ``inline`` or ``shared``.

    Returns
    -------
    str
        ``kind``.

    Raises
    ------
    MayflyError
        It is another.
    """
    for known in KINDS:
        if kind == known:
            return known
    raise MayflyError(f"assets = {kind!r}: must be {' or '.join(KINDS)}")


def share(path: str | os.PathLike[str]) -> Path | None:
    """Moves the plot library of a report into a file beside it, which all reports of the folder use.

    Parameters
    ----------
    path : path-like
        A report that :func:`mayfly.show.page.document` made. What is no such page is left as it is.

    Returns
    -------
    pathlib.Path or None
        The library; its name has its version and the first digits of its digest, and an existing file is written again
        when its content has another. None for what has no library inside.

    Raises
    ------
    MayflyError
        The folder cannot be written.

    Notes
    -----
    Over HTTP the browser checks the digest itself (Subresource Integrity). It cannot for files of a disk, whose scripts
    have no origin: there the digest is checked whenever a report is written.
    """
    from plotly.offline import get_plotlyjs, get_plotlyjs_version

    path = Path(path)
    try:
        text = path.read_text(encoding="utf-8")
        inner = inline(get_plotlyjs())
        inside = f"<script>{inner}</script>"
        if inside not in text:
            return None
        library = get_plotlyjs().encode()
        digest = hashlib.sha384(library).digest()
        name = f"plotly-{re.sub(r'[^0-9A-Za-z.-]', '-', get_plotlyjs_version())}-{digest.hex()[:8]}.min.js"
        kept = path.parent / FOLDER / name
        kept.parent.mkdir(exist_ok=True)
        if not kept.is_file() or hashlib.sha384(kept.read_bytes()).digest() != digest:
            with complete(kept) as partial:
                partial.write_bytes(library)
        with complete(path) as partial:
            loader, script = _loader(name, digest), inline(SCRIPT)
            text = text.replace(inside, f"<script>{loader}</script>")
            # A page from a disk has no origin that `'self'` could mean in every browser.
            text = text.replace(policy(inner, script), policy(loader, script, more=" 'self' file:"), 1)
            partial.write_text(text, encoding="utf-8")
    except OSError as error:
        raise MayflyError(f"{path.parent}: cannot be written: {error.strerror or error}") from None
    return kept


def _loader(name: str, digest: bytes) -> str:
    """A script that is done when the library is there, and checks it where the browser can."""
    integrity = f"sha384-{base64.b64encode(digest).decode()}"
    return (
        f"document.write('<script src=\"{FOLDER}/{name}\"' + (/^http/.test(location.protocol) ? "
        f'\' integrity="{integrity}" crossorigin="anonymous"\' : "") + "><\\/script>");'
    )
