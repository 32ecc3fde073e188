"""Camunda's own client for a server of these tests; it is told nothing but the address."""

from __future__ import annotations

import camunda_orchestration_sdk as sdk

from tests.api.conftest import Served


def client_of(served: Served) -> sdk.CamundaAsyncClient:
    """To be used as an asynchronous context."""
    return sdk.CamundaAsyncClient(configuration={"CAMUNDA_REST_ADDRESS": served.url, "CAMUNDA_AUTH_STRATEGY": "NONE"})
