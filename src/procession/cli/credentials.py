"""``procession tokens`` and ``procession users``: who may use the server. A token's text is shown once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from procession.cli import screen
from procession.cli.options import options, with_options
from procession.cli.session import run
from procession.cli.tables import Column

if TYPE_CHECKING:
    from procession.api.tokens import Known
    from procession.app import Procession

tokens = typer.Typer(help="API tokens for clients of the server.", no_args_is_help=True)
users = typer.Typer(help="People who come to the server with name and password.", no_args_is_help=True)

Roles = Annotated[
    list[str],
    typer.Option("--role", "-r", help="reader, worker, operator, deployer or admin. Repeatable."),
]
Tenants = Annotated[
    list[str] | None, typer.Option("--tenant", "-t", help="Only this tenant. Repeatable; none: every tenant.")
]


@tokens.command("create")
@with_options
def create_token(
    name: Annotated[str, typer.Argument(help="What the audit log calls whoever uses it.")],
    role: Roles,
    tenant: Tenants = None,
    expires: Annotated[str, typer.Option(help="How long it is good: 90d, 12h. Default: for ever.")] = "",
) -> None:
    """Make a token, and show it: it cannot be shown again."""
    from procession.api import tokens as keeper  # noqa: PLC0415 - packages that may be absent
    from procession.jobs.retry import span_ms  # noqa: PLC0415 - as above

    expires_ms = span_ms(expires, "expires") if expires else 0

    async def work(app: Procession) -> tuple[Known, str]:
        return await keeper.create_token(app, name, role, tenants=tenant, expires_ms=expires_ms)

    known, text = run(work, creates=True)
    if options().json:
        screen.json_line({"token": text, "name": known.name, "roles": known.roles, "tenants": known.tenants})
        return
    screen.line(text)
    screen.note("Keep it now: only its digest is stored")


@tokens.command("list")
@with_options
def list_tokens() -> None:
    """List the tokens; what they are cannot be read any more."""
    _list("token")


@tokens.command("revoke")
@with_options
def revoke_token(name: Annotated[str, typer.Argument(help="Its name.")]) -> None:
    """Revoke a token: servers refuse it within seconds."""
    _revoke("token", name)


@users.command("create")
@with_options
def create_user(
    name: Annotated[str, typer.Argument(help="The name to come with.")],
    role: Roles,
    tenant: Tenants = None,
    password: Annotated[
        str,
        typer.Option(prompt=True, hide_input=True, confirmation_prompt=True, envvar="PROCESSION_PASSWORD"),
    ] = "",
) -> None:
    """Let a person in; the password is asked for, or read from $PROCESSION_PASSWORD."""
    from procession.api import tokens as keeper  # noqa: PLC0415 - packages that may be absent

    async def work(app: Procession) -> Known:
        return await keeper.create_user(app, name, password, role, tenants=tenant)

    known = run(work, creates=True)
    if options().json:
        screen.json_line({"name": known.name, "roles": known.roles, "tenants": known.tenants})
    else:
        screen.line(f"{known.name}: {', '.join(known.roles)}")


@users.command("list")
@with_options
def list_users() -> None:
    """List the people."""
    _list("user")


@users.command("delete")
@with_options
def delete_user(name: Annotated[str, typer.Argument(help="Its name.")]) -> None:
    """Let a person in no more."""
    _revoke("user", name)


def _list(kind: str) -> None:
    from procession.api import tokens as keeper  # noqa: PLC0415 - packages that may be absent

    rows = run(lambda app: keeper.known_credentials(app, kind))
    if options().json:
        screen.json_line(
            [
                {"name": row.name, "roles": row.roles, "tenants": row.tenants, "expiresAt": row.expires_at}
                for row in rows
            ]
        )
        return
    if not rows:
        screen.note(f"There is none: procession {kind}s create NAME --role ROLE")
        return
    screen.table(
        (Column("name"), Column("roles"), Column("tenants"), Column("made", whole=True), Column("until", whole=True)),
        [
            (
                row.name,
                ", ".join(row.roles),
                "all" if row.tenants is None else ", ".join(each or "<default>" for each in row.tenants),
                screen.when(row.created_at),
                screen.when(row.expires_at),
            )
            for row in rows
        ],
    )


def _revoke(kind: str, name: str) -> None:
    from procession.api import tokens as keeper  # noqa: PLC0415 - packages that may be absent

    run(lambda app: keeper.revoke(app, kind, name))
    if options().json:
        screen.json_line({"revoked": name})
    else:
        screen.line(f"{name} is refused from now on")
