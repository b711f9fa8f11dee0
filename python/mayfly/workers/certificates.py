"""Certificates for a Dask cluster: who has them is in it, and nobody else can speak to it.

Principle: one authority and one key for all of the cluster. Scheduler, workers and the sweep each show the same
certificate and ask it of the other (TLS with both sides authenticated, RFC 8446, 4.3.2), so names and addresses play no
part: machines of a job array have none beforehand. The key of the authority is forgotten once it has signed, so that
no second certificate can be made. A cluster that must shut out a machine that had the files makes new ones.
"""

import os
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mayfly.errors import MayflyError
from mayfly.show.notebook import Result
from mayfly.text.folder import filled

if TYPE_CHECKING:
    from distributed.security import Security

AUTHORITY, CERTIFICATE, KEY = "ca.pem", "cluster.pem", "cluster-key.pem"
"""Names of the files."""

MOST_DAYS = 3650


@dataclass(frozen=True, repr=False)
class Certificates(Result):
    """What was written.

    Parameters
    ----------
    folder : Path
    until : datetime
        They are valid up to then.
    """

    folder: Path
    until: datetime

    def document(self) -> dict[str, Any]:
        """The answer as JSON."""
        names = {"authority": AUTHORITY, "certificate": CERTIFICATE, "key": KEY}
        files = {what: str(self.folder / name) for what, name in names.items()}
        return {"files": files, "until": self.until.isoformat()}

    def tables(self) -> list[Any]:
        """None: sentences say it."""
        return []

    def sentences(self) -> list[str]:
        """What to do with them."""
        folder = self.folder
        files = f"--tls-ca-file {folder / AUTHORITY} --tls-cert {folder / CERTIFICATE} --tls-key {folder / KEY}"
        return [
            f"{folder}: certificates of a cluster, until {self.until:%Y-%m-%d}; whoever has {KEY} runs code on it",
            f"dask scheduler --protocol tls --port 8786 --interface ib0 --no-dashboard {files}",
            f"dask worker tls://HOST:8786 --protocol tls --nthreads 1 --interface ib0 --no-dashboard {files}",
            f"mayfly sweep FILE --cluster tls://HOST:8786 --cluster-certificates {folder}",
        ]


def make_certificates(folder: str | os.PathLike[str], days: int = 365) -> Certificates:
    """Makes the certificates of a cluster.

    Parameters
    ----------
    folder : path
        Made, for its owner alone; files of an earlier call stay as they are.
    days : int
        For which they are valid, 1 to 3650.

    Returns
    -------
    Certificates

    Raises
    ------
    MayflyError
        There are some already, the folder cannot be written or others may read it, or cryptography is not installed.
    """
    if not 1 <= days <= MOST_DAYS:
        raise MayflyError(f"--days {days}: must be from 1 to {MOST_DAYS}")
    folder = Path(folder)
    if there := [name for name in (AUTHORITY, CERTIFICATE, KEY) if os.path.lexists(folder / name)]:
        raise MayflyError(
            f"{folder / there[0]}: is there already: a cluster may use it; remove it, or name another folder"
        )
    texts, until = _made(days)
    before = os.umask(0o077)
    try:
        with filled(folder, texts) as partial:
            _refuse_open(folder)
            for name, text in texts.items():
                (partial / name).write_bytes(text)
    finally:
        os.umask(before)
    return Certificates(folder, until)


def _refuse_open(path: Path) -> None:
    """Refuses what others may read or write."""
    about = path.stat()
    if about.st_uid != os.geteuid():
        raise MayflyError(f"{path}: belongs to another user ({about.st_uid})")
    if about.st_mode & 0o077:
        raise MayflyError(f"{path}: others may read it: chmod go= {path}")


def _made(days: int) -> tuple[dict[str, bytes], datetime]:
    """The files by name, and until when they are valid."""
    try:
        from cryptography import x509
        from cryptography.hazmat.primitives import hashes
        from cryptography.hazmat.primitives.asymmetric import ec
        from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
        from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID
    except ImportError:
        raise MayflyError("certificates need cryptography: pip install 'mayfly[cluster]'") from None
    # A clock that is somewhat behind must not refuse them.
    start = datetime.now(UTC).replace(microsecond=0) - timedelta(hours=1)
    until = start + timedelta(days=days)
    authority, key = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1())

    def named(text: str) -> x509.Name:
        return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])

    def signed(subject: str, public: ec.EllipticCurvePublicKey, *more: tuple[x509.ExtensionType, bool]) -> bytes:
        builder = (
            x509.CertificateBuilder()
            .subject_name(named(subject))
            .issuer_name(named("mayfly cluster authority"))
            .public_key(public)
            .serial_number(x509.random_serial_number())
            .not_valid_before(start)
            .not_valid_after(until)
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(public), critical=False)
            .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(authority.public_key()), critical=False)
        )
        for extension, critical in more:
            builder = builder.add_extension(extension, critical=critical)
        return builder.sign(authority, hashes.SHA256()).public_bytes(Encoding.PEM)

    def usage(*, signs: bool) -> x509.KeyUsage:
        others = ("content_commitment", "key_encipherment", "data_encipherment", "key_agreement", "crl_sign")
        off = dict.fromkeys((*others, "encipher_only", "decipher_only"), False)
        return x509.KeyUsage(digital_signature=not signs, key_cert_sign=signs, **off)

    both = x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH, ExtendedKeyUsageOID.CLIENT_AUTH])
    of_authority = (x509.BasicConstraints(ca=True, path_length=0), True), (usage(signs=True), True)
    of_cluster = (x509.BasicConstraints(ca=False, path_length=None), True), (usage(signs=False), True), (both, False)
    texts = {
        AUTHORITY: signed("mayfly cluster authority", authority.public_key(), *of_authority),
        CERTIFICATE: signed("mayfly cluster", key.public_key(), *of_cluster),
        KEY: key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()),
    }
    return texts, until


def security(folder: str | os.PathLike[str]) -> "Security":
    """What dask.distributed takes to speak to a cluster with these certificates.

    Parameters
    ----------
    folder : path
        As `make_certificates` wrote it.

    Returns
    -------
    distributed.Security
        Encryption and the cluster's certificate are required.

    Raises
    ------
    MayflyError
        A file is not there, is none of these, or others may read the key.
    """
    import ssl

    from distributed import Security

    folder = Path(folder)
    files = {name: folder / name for name in (AUTHORITY, CERTIFICATE, KEY)}
    for path in files.values():
        if not path.is_file():
            raise MayflyError(f"{path}: no such file; `mayfly sweep certificates {folder}` makes it")
    _refuse_open(files[KEY])
    try:
        context = ssl.create_default_context(cafile=str(files[AUTHORITY]))
        context.load_cert_chain(files[CERTIFICATE], files[KEY])
    except (ssl.SSLError, OSError) as error:
        raise MayflyError(f"{folder}: not certificates of a cluster: {error.strerror or error}") from None
    paths: dict[str, Any] = {"tls_ca_file": str(files[AUTHORITY])}
    for role in ("client", "scheduler", "worker"):
        paths |= {f"tls_{role}_cert": str(files[CERTIFICATE]), f"tls_{role}_key": str(files[KEY])}
    return Security(require_encryption=True, **paths)
