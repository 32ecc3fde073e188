"""The way to the server is encrypted, and its other end looked at, as the URL says."""

from __future__ import annotations

import datetime as dt
import ipaddress
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from procession.errors import Misconfigured, ProcessionError
from procession.store.mysql import MysqlStore
from tests.support.mariadb import MariadbDatabases, migrate


def certify(folder: Path, name: str, address: str) -> Path:
    """A key and a certificate of an authority of its own for a server."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    now = dt.datetime.now(dt.UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - dt.timedelta(days=1))
        .not_valid_after(now + dt.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address(address))]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    path = folder / f"{name}.pem"
    path.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.TraditionalOpenSSL, serialization.NoEncryption()
    )
    path.with_suffix(".key").write_bytes(private)
    for each in (path, path.with_suffix(".key")):
        each.chmod(0o644)  # the server runs as another user
    return path


@pytest.fixture
def certificates() -> Iterator[Path]:
    """A folder that the server's user can read."""
    folder = Path(tempfile.mkdtemp(prefix="procession-tls-"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


async def test_the_url_says_how_the_way_is_protected(make_mariadb_server, certificates: Path) -> None:
    ours = certify(certificates, "ours", "127.0.0.1")
    stranger = certify(certificates, "stranger", "127.0.0.1")
    settings = {"ssl_cert": str(ours), "ssl_key": str(ours.with_suffix(".key")), "require_secure_transport": "ON"}
    plain = make_mariadb_server(durable=False, settings={**settings, "require_secure_transport": "OFF"})
    databases = MariadbDatabases(plain)
    url = databases.create()
    await migrate(url)
    assert await cipher(url) == ""
    assert await cipher(f"{url}?ssl-mode=REQUIRED")
    assert await cipher(f"{url}?ssl_mode=verify_ca&ssl_ca={ours}")
    assert await cipher(f"{url}?ssl-mode=VERIFY_IDENTITY&ssl-ca={ours}")
    for mode in ("VERIFY_CA", "VERIFY_IDENTITY"):
        with pytest.raises(ProcessionError, match=r"(?i)certificate"):
            await cipher(f"{url}?ssl-mode={mode}&ssl-ca={stranger}")
    elsewhere = url.replace("127.0.0.1", "localhost")
    with pytest.raises(ProcessionError, match=r"(?i)certificate|hostname"):
        await cipher(f"{elsewhere}?ssl-mode=VERIFY_IDENTITY&ssl-ca={ours}")
    databases.close()


async def test_a_server_without_tls_is_not_spoken_to_in_the_open_where_tls_is_asked_for(make_mariadb_server) -> None:
    server = make_mariadb_server(durable=False, settings={"skip_ssl": "1"})
    databases = MariadbDatabases(server)
    url = databases.create()
    with pytest.raises(ProcessionError):
        await cipher(f"{url}?ssl-mode=REQUIRED")
    databases.close()


def test_certificates_that_are_not_there_are_said_to_be() -> None:
    with pytest.raises(Misconfigured, match="certificates"):
        MysqlStore("mysql://ada@host/shop?ssl-ca=/nowhere.pem")


async def cipher(url: str) -> str:
    """What encrypts a session of a store; empty if nothing does."""
    store = MysqlStore(url)
    try:
        async with store._rest.lend() as session:
            answer = session.put_text("cipher", b"SHOW SESSION STATUS LIKE 'Ssl_cipher'")
            await session.send()
            return answer.rows[0][1]
    finally:
        await store.close()
