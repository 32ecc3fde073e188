"""A plain script: deploy, start an instance, wait for its end, look at its variables. The file is the database."""

from __future__ import annotations

import sys
from pathlib import Path

from procession import Procession, SyncProcession

app = Procession("sqlite:///greetings.db")


@app.job("write-greeting")
def write_greeting(guest: str) -> dict[str, str]:
    """Give the guest a greeting."""
    return {"greeting": f"Welcome, {guest}!"}


if __name__ == "__main__":
    with SyncProcession(app, run_workers=True) as procession:
        procession.deploy(Path(__file__).with_name("greeting.bpmn"))
        key = procession.start("greeting", {"guest": sys.argv[1] if len(sys.argv) > 1 else "stranger"})
        print(procession.wait(key, timeout=10).state, procession.instance(key).variables["greeting"])
