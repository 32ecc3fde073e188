"""Filters name states by Camunda 8's words: another word is a typing error, and is told as one."""

from __future__ import annotations

import pytest

SEARCHES = [
    ("process-instances", "state", "ACTIVE"),
    ("element-instances", "state", "COMPLETED"),
    ("jobs", "state", "TIMED_OUT"),
    ("jobs", "kind", "EXECUTION_LISTENER"),
    ("incidents", "state", "RESOLVED"),
    ("user-tasks", "state", "CREATED"),
    ("batch-operations", "state", "SUSPENDED"),
    ("message-subscriptions", "messageSubscriptionState", "CORRELATED"),
]


@pytest.mark.parametrize(("what", "field", "word"), SEARCHES)
async def test_a_state_that_there_is_not_is_refused(served, what, field, word):
    async def status(condition: object) -> int:
        answer = await served.post(f"/{what}/search", {"filter": {field: condition}})
        if answer.status_code == 400:
            assert word in answer.json()["detail"]
        return answer.status_code

    for accepted in (word, {"$eq": word}, {"$in": [word]}, {"$neq": word}, {"$like": "any*"}, {"$exists": True}):
        assert await status(accepted) == 200, accepted
    for refused in ("ACTIV", word.lower(), {"$eq": "ACTIV"}, {"$in": [word, "ACTIV"]}, {"$notIn": ["ACTIV"]}):
        assert await status(refused) == 400, refused


async def test_a_state_in_an_alternative_is_looked_at_too(served):
    answer = await served.post("/process-instances/search", {"filter": {"$or": [{"state": "ACTIV"}]}})
    assert answer.status_code == 400


async def test_the_topology_names_the_port_of_this_server(served):
    (broker,) = (await served.get("/topology")).json()["brokers"]
    assert broker["port"] == served.server.port
