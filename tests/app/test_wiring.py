"""URLs: which are refused, and that none gives a password away."""

from __future__ import annotations

from typing import Any

import pytest

from procession import Procession
from procession.app.wiring import redacted
from procession.errors import Misconfigured


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("", "found the scheme ''"),
        ("oracle://host/shop", "found the scheme 'oracle'"),
        ("mysql://user:secret@host", "one database in the mysql: URL"),
        ("mysql://user:secret@host:many/shop", "a port as a number"),
        ("mysql://user:secret@host/shop?charset=latin1", "Unknown option 'charset'"),
        ("mariadb://user:secret@host/shop?ssl-mode=PERHAPS", "DISABLED, REQUIRED, VERIFY_CA, VERIFY_IDENTITY, got"),
        ("mysql://user:secret@host/shop?ssl-mode=DISABLED&ssl-ca=ca.pem", "no ssl-ca with ssl-mode=DISABLED"),
        ("mysql://user:secret@host/shop?ssl-ca=/nowhere/ca.pem", "certificates of the mysql: URL cannot be used"),
        ("sqlite://shop.db", "three or four slashes"),
        ("sqlite:///shop.db?mode=ro", "Unknown option 'mode'"),
        ("sqlite:///shop.db?synchronous=OFF", "synchronous=FULL"),
        ("postgresql://user:secret@[::1/shop", "found one that is not valid: Invalid IPv6 URL"),
        ("postgresql://user:secret@host/shop?pgbouncer=perhaps", "pgbouncer=1 or pgbouncer=0, found 'perhaps'"),
        ("postgresql://user:secret@host/shop?synchronous_commit=", "synchronous_commit=on"),
        (None, "found NoneType"),
    ],
)
def test_a_url_that_cannot_be_used_is_refused_when_it_is_said(url: Any, words: str) -> None:
    with pytest.raises(Misconfigured) as refused:
        Procession(url)
    assert words in str(refused.value)
    assert "secret" not in str(refused.value)


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("postgresql://ada:s3:cr@t@host/shop", "postgresql://ada:***@host/shop"),
        ("postgresql://ada:ada@ada/ada", "postgresql://ada:***@ada/ada"),
        ("postgresql://host/shop?user=ada&password=s3cret", "postgresql://host/shop?user=ada&password=***"),
        ("postgresql://ada@host/shop?sslpassword=s3cret&a=1", "postgresql://ada@host/shop?sslpassword=***&a=1"),
        ("mysql://ada:s3cret@host:3307/shop?ssl-mode=REQUIRED", "mysql://ada:***@host:3307/shop?ssl-mode=REQUIRED"),
        ("sqlite:////var/lib/a b.db", "sqlite:////var/lib/a b.db"),
    ],
)
def test_a_url_is_shown_without_its_passwords(url: str, shown: str) -> None:
    assert redacted(url) == shown
