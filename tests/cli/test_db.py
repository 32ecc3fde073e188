"""db: the schema's version, and bringing it up to date."""

from __future__ import annotations


def test_a_new_database_is_migrated_once(shop, command):
    before = command("db", "status")
    assert before.code == 1
    assert "procession db migrate" in before.out
    assert not (shop.folder / "shop.db").exists()
    assert command("db", "migrate", "--json").json["applied"]
    assert command("db", "migrate").out == "sqlite:///shop.db is up to date\n"
    status = command("db", "status", "--json")
    assert status.code == 0
    assert status.json["upToDate"] is True


def test_another_database_is_only_migrated_when_asked(command, bare_postgres_url):
    refused = command("instances", "--url", bare_postgres_url)
    assert refused.code == 3
    assert "procession db migrate" in refused.err
    assert command("db", "status", "--url", bare_postgres_url).code == 1
    assert command("db", "migrate", "--url", bare_postgres_url).code == 0
    assert command("instances", "--url", bare_postgres_url, "--json").json == []
