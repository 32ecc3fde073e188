"""The Zeebe gateway of a server in the test's own loop, and the published stub to call it with."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import TypeVar

import grpc
import grpc.aio
import pytest
from pyzeebe.proto import gateway_pb2 as pb
from pyzeebe.proto.gateway_pb2_grpc import GatewayStub

from procession.api.settings import GrpcSettings
from tests.api.conftest import PAYMENT, MakeServed, Served

T = TypeVar("T")


class Gateway:
    """A server with a gateway, and a client of it."""

    def __init__(self, served: Served, channel: grpc.aio.Channel) -> None:
        self.served = served
        self.app = served.app
        self.address = served.server.grpc_address
        self.channel = channel
        self.stub = GatewayStub(channel)

    async def deploy(
        self, content: bytes = PAYMENT, name: str = "payment.bpmn", **options
    ) -> pb.DeployResourceResponse:
        request = pb.DeployResourceRequest(resources=[pb.Resource(name=name, content=content)])
        return await self.stub.DeployResource(request, **options)

    async def start(self, process_id: str = "payment", **variables) -> pb.CreateProcessInstanceResponse:
        request = pb.CreateProcessInstanceRequest(
            bpmnProcessId=process_id, version=-1, variables=json.dumps(variables) if variables else ""
        )
        return await self.stub.CreateProcessInstance(request)

    async def take(self, job_type: str = "charge-card", count: int = 1, **options) -> list[pb.ActivatedJob]:
        asked = poll(job_type, count, **options)
        return [job async for answer in self.stub.ActivateJobs(asked) for job in answer.jobs]

    async def waiting(self, count: int = 1) -> None:
        """Until so many workers wait."""
        while self.app.remote.waiting != count:  # noqa: ASYNC110 - a client's call is on its way
            await asyncio.sleep(0.005)


def poll(job_type: str = "charge-card", count: int = 1, **options) -> pb.ActivateJobsRequest:
    given = {"worker": "w1", "timeout": 60_000, "requestTimeout": 5_000, **options}
    return pb.ActivateJobsRequest(type=job_type, maxJobsToActivate=count, **given)


async def until(look: Callable[[], Awaitable[T]]) -> T:
    """What is seen once there is something to see."""
    while not (found := await look()):  # noqa: ASYNC110 - what follows from a call may be under way
        await asyncio.sleep(0.005)
    return found


async def refusal(call: Awaitable) -> tuple[str, str]:
    """The status of a call that is refused, and its words."""
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await call
    return caught.value.code().name, caught.value.details()


async def refused(call: Awaitable) -> str:
    """The status of a call that is refused."""
    return (await refusal(call))[0]


@pytest.fixture
async def make_gateway(make_served: MakeServed) -> AsyncIterator:
    """Make gateways with settings of the test's own."""
    channels = []

    async def make(grpc_settings: GrpcSettings | None = None, **settings) -> Gateway:
        served = await make_served(grpc=grpc_settings or GrpcSettings(port=0), **settings)
        channel = grpc.aio.insecure_channel(served.server.grpc_address)
        channels.append(channel)
        return Gateway(served, channel)

    yield make
    for channel in channels:
        await channel.close()


@pytest.fixture
async def gateway(make_gateway) -> Gateway:
    """For local use, without identity."""
    return await make_gateway()
