"""``procession nodes``: the processes that work on the database. It changes nothing."""

from __future__ import annotations

from procession.cli import screen
from procession.cli.options import options, with_options
from procession.cli.session import run
from procession.cli.tables import Column


@with_options
def nodes() -> None:
    """List the processes that work on the database.

    beat is when one last said that it lives.
    """
    rows = run(lambda app: app.nodes())
    if options().json:
        screen.views(rows)
        return
    if not rows:
        screen.note("No process works on this database: procession work MODULE:ATTRIBUTE")
        return
    screen.table(
        (
            Column("node", right=True),
            Column("name"),
            Column("since", whole=True),
            Column("beat", whole=True),
            Column("jobs", right=True),
        ),
        [
            (str(row.node), row.name, screen.when(row.started_at), screen.when(row.beat_at), str(row.running))
            for row in rows
        ],
    )
