"""What the chaos tests share: the seed of the run, a database with the models, and how much is left to do."""

from __future__ import annotations

import os
import random

from procession import Procession
from tests.chaos.books import query
from tests.chaos.models import METHODS, content

SEED = int(os.environ.get("CHAOS_SEED", "0")) or random.randrange(1, 1_000_000)


async def prepare(url: str) -> None:
    """Schema and models."""
    app = Procession(url)
    app.method("price")(lambda: None)
    assert set(METHODS) == set(app.handlers.methods)
    await app.open(run_workers=False, migrate=True)
    await app.deploy(("chaos.bpmn", content()))
    await app.close()


def active(url: str) -> int:
    """How many instances go on."""
    return query(url, "select count(*) from {s}instance where status <> 1 or rev = 0")[0][0]
