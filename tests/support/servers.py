"""Database servers as parameters of fixtures: each with its mark, since pytest does not see what a fixture asks for."""

from __future__ import annotations

import pytest

SERVERS = (
    pytest.param("postgres", marks=pytest.mark.postgres),
    pytest.param("mariadb", marks=pytest.mark.mariadb),
)
