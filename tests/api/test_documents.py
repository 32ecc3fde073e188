"""The pages about the server say what it does: every metric, every path that is not served, every role."""

from __future__ import annotations

import re

from procession.api.roles import Role
from procession.api.tables import FAMILIES_NOT_SERVED, NOT_SERVED
from tests.support.sources import ROOT

DOCS = ROOT / "docs"


async def test_every_metric_stands_in_the_table_and_no_other(served):
    await served.post("/jobs/search")
    served.gate.admission.rejected["disk"] = 0
    served.server.web.metrics.grpc.answered("Topology", "OK", 0.0, waits=False)
    page = (await served.client.get("/metrics")).text
    names = [name for name in re.findall(r"^(procession_\w+)", page, re.MULTILINE) if not name.endswith("_created")]
    kept = {re.sub(r"_(bucket|count|sum)$", "", name) for name in names}
    written = set(re.findall(r"`(procession_\w+)`", (DOCS / "server-metrics.md").read_text()))
    assert kept == written


def test_what_is_not_served_is_named():
    text = (DOCS / "server-camunda.md").read_text()
    missing = [name for _, _, name in NOT_SERVED if f"`{name}`" not in text]
    missing += [name for name in FAMILIES_NOT_SERVED if f"`{name}`" not in text]
    assert missing == []


def test_every_role_is_explained():
    text = (DOCS / "server.md").read_text()
    assert [role.value for role in Role if f"| `{role.value}` |" not in text] == []
