"""A starter to be killed: ``python -m tests.chaos.starter URL LEDGER LAST [mend]``.

It starts the numbers up to LAST that nobody has asked for yet, and serves the talks. A number is written down before it
is asked for and when its start has returned. ``mend``: what was asked for and not answered is looked up and, where it
is not there, asked for again; nobody kills that one.
"""

from __future__ import annotations

import asyncio
import sys

from procession import Procession
from procession.errors import Unavailable
from tests.chaos.ledger import Ledger, read
from tests.chaos.models import process_of, variables_of, words_of
from tests.chaos.worker import QUICK

AT_ONCE = 40


async def start(app: Procession, ledger: Ledger, number: int) -> None:
    """One instance and the messages that it waits for."""
    name = process_of(number)
    ledger.write("asked", number)
    try:
        key = await app.start(name, variables_of(number), business_id=f"{name}-{number}")
    except Unavailable:
        ledger.write("unknown", number)  # it may be there or not: to be mended
        return
    ledger.write("started", number, key)
    if name == "talk":
        await speak(app, ledger, number)


async def speak(app: Procession, ledger: Ledger, number: int) -> None:
    """The words for a talk; their ids make them the same words when they are said again."""
    try:
        for word in words_of(number):
            await app.publish(
                "word", correlation_key=str(number), variables={"word": word}, ttl="1h", message_id=f"{number}-{word}"
            )
    except Unavailable:
        return
    ledger.write("spoken", number)


async def mend(app: Procession, ledger: Ledger, number: int) -> None:
    """Start what is not there; say again what may not have been said."""
    name = process_of(number)
    if await app.instances(name, business_id=f"{name}-{number}"):
        ledger.write("found", number)
        if name == "talk":
            await speak(app, ledger, number)
    else:
        ledger.write("missing", number)
        await start(app, ledger, number)


async def main(url: str, path: str, last: int, *, mending: bool) -> None:
    """Work through the numbers."""
    told: dict[str, set[int]] = {}
    for verb, number, *_ in read(path):
        told.setdefault(verb, set()).add(int(number))
    ledger = Ledger(path)
    asked, started, spoken = (told.get(verb, set()) for verb in ("asked", "started", "spoken"))
    if mending:
        todo = sorted(n for n in asked if n not in started or (process_of(n) == "talk" and n not in spoken))
    else:
        todo = sorted(set(range(1, last + 1)) - asked)
    do = mend if mending else start
    app = Procession(url, history="full", settings=QUICK)
    await app.open(run_workers=False)
    room = asyncio.Semaphore(AT_ONCE)

    async def one(number: int) -> None:
        async with room:
            await do(app, ledger, number)

    await asyncio.gather(*(one(number) for number in todo))
    await app.close()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2], int(sys.argv[3]), mending="mend" in sys.argv[4:]))
