"""The server itself: topology, status, licence, who one is, the clock of tests, an expression tried out."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Annotated, Any

from msgspec import UNSET, Meta, UnsetType

from procession import __version__
from procession.api.endpoints import Call, Endpoint
from procession.api.meter import NAMES_MAX
from procession.api.problems import Problem
from procession.api.roles import Role, tenant_id_of
from procession.api.search import Record, Request
from procession.api.verbs.elements import owner_of
from procession.api.words import key_of
from procession.core import visible_variables
from procession.feel import FeelSyntaxError, to_json
from procession.feel import compile as compile_expression
from procession.jobs.schedule import to_datetime
from procession.limits import NAME_BYTES_MAX
from procession.store.rows.metering import TEXT_CHARS_MAX

CLUSTER = "Cluster"


class Partition(Record):
    """There is one."""

    partition_id: int
    role: str
    health: str
    state: str


class Broker(Record):
    """A process that works on the database."""

    node_id: int
    broker_id: str
    host: str
    port: int
    partitions: list[Partition]
    version: str


class Topology(Record):
    """The processes that work on the database."""

    brokers: list[Broker]
    cluster_id: str | None
    cluster_size: int
    partitions_count: int
    replication_factor: int
    gateway_version: str
    last_completed_change_id: str


class Licence(Record):
    """None is needed."""

    valid_license: bool
    license_type: str
    is_commercial: bool
    expires_at: datetime | None


class Tenant(Record):
    """A tenant of the principal."""

    tenant_id: str
    name: str
    description: str | None


class Me(Record):
    """Who one is."""

    username: str
    display_name: str | None
    email: str | None
    authorized_components: list[str]
    tenants: list[Tenant]
    groups: list[str]
    roles: list[str]
    sales_plan_type: str | None
    c8_links: dict[str, str]
    can_logout: bool


class JobMetrics(Record):
    """How jobs are counted by type and worker."""

    enabled: bool
    export_interval: str
    max_worker_name_length: int
    max_job_type_length: int
    max_tenant_id_length: int
    max_unique_keys: int


class Components(Record):
    """Camunda's web applications, of which none runs here."""

    active: list[str]


class Deployment(Record):
    """How the server is set up."""

    is_multi_tenancy_enabled: bool
    max_request_size: int


class Authentication(Record):
    """How one comes in."""

    can_logout: bool
    is_login_delegated: bool


class Cloud(Record):
    """It runs in none."""

    stage: str | None


class SystemConfiguration(Record):
    """How the server is set up, as far as clients are told."""

    job_metrics: JobMetrics
    components: Components
    deployment: Deployment
    authentication: Authentication
    cloud: Cloud


class PinClock(Request):
    """The instant, in milliseconds since the epoch."""

    timestamp: Annotated[int, Meta(ge=0, le=253_402_300_799_999)]


class EvaluateExpression(Request):
    """A FEEL expression, with its ``=``, on some variables; with ``scopeKey`` on those that a scope sees, too."""

    expression: Annotated[str, Meta(min_length=1, max_length=100_000)]
    tenant_id: str | UnsetType = UNSET
    scope_key: str | UnsetType | None = UNSET
    variables: dict[str, Any] | None = None


class Warned(Record):
    """Why something is null."""

    message: str


class Evaluated(Record):
    """The value."""

    expression: str
    result: Any
    warnings: list[Warned]
    referenced_secrets: list[str]


async def topology(call: Call) -> Topology:
    """Who works on the database."""
    nodes = await call.desk.app.nodes()
    partition = Partition(partition_id=1, role="leader", health="healthy", state="active")
    brokers = [
        Broker(
            node_id=node.node,
            broker_id=f"{node.name}-{node.node}",
            host=node.name,
            port=call.desk.port if node.node == call.desk.app.node else 0,  # of others it is not known here
            partitions=[partition] if index == 0 else [],
            version=__version__,
        )
        for index, node in enumerate(sorted(nodes, key=lambda node: node.node))
    ]
    return Topology(
        brokers=brokers,
        cluster_id="procession",
        cluster_size=len(brokers),
        partitions_count=1,
        replication_factor=1,
        gateway_version=__version__,
        last_completed_change_id="-1",
    )


async def status(call: Call) -> None:
    """Whether the database answers."""
    await call.desk.rows.now()


async def licence(call: Call) -> Licence:
    """Procession needs none."""
    del call
    return Licence(valid_license=True, license_type="Apache-2.0", is_commercial=False, expires_at=None)


async def me(call: Call) -> Me:
    """Who one is, and what one may do."""
    who = call.who
    tenants = [""] if who.tenants is None else sorted(who.tenants)
    return Me(
        username=who.name,
        display_name=who.name,
        email=None,
        authorized_components=["*"],
        tenants=[
            Tenant(tenant_id=tenant_id_of(tenant), name=tenant or "Default", description=None) for tenant in tenants
        ],
        groups=[],
        roles=sorted(role.value for role in who.roles),
        sales_plan_type=None,
        c8_links={},
        can_logout=False,
    )


async def system_configuration(call: Call) -> SystemConfiguration:
    """How the server is set up."""
    settings = call.desk.settings
    return SystemConfiguration(
        job_metrics=JobMetrics(
            enabled=True,
            export_interval="PT1S",
            max_worker_name_length=TEXT_CHARS_MAX,
            max_job_type_length=TEXT_CHARS_MAX,
            max_tenant_id_length=NAME_BYTES_MAX,
            max_unique_keys=NAMES_MAX,
        ),
        components=Components(active=[]),
        deployment=Deployment(is_multi_tenancy_enabled=settings.identity, max_request_size=settings.body_bytes_max),
        authentication=Authentication(can_logout=False, is_login_delegated=settings.oidc is not None),
        cloud=Cloud(stage=None),
    )


def _turn(call: Call) -> Callable[[int | None], None]:
    """How the clock is set. Raises Problem where it is the world's."""
    turn = call.desk.turn_clock
    if turn is None:
        raise Problem(501, "The clock is the world's: start the server in test mode to set it (--test-clock)")
    return turn


async def pin_clock(call: Call) -> None:
    """Let it be this instant until it is set again."""
    body: PinClock = call.body
    _turn(call)(body.timestamp)


async def reset_clock(call: Call) -> None:
    """Let it be now again."""
    _turn(call)(None)


async def evaluate_expression(call: Call) -> Evaluated:
    """What an expression gives. Raises Problem for one that cannot be read."""
    body: EvaluateExpression = call.body
    if not body.expression.startswith("="):
        raise Problem(400, "Expected an expression that begins with '='")
    variables: dict[str, Any] = {}
    if isinstance(body.scope_key, str):
        key = key_of(body.scope_key, "scopeKey")
        row = await owner_of(call, key)
        state = await call.desk.app.state_of(row)
        variables = dict(visible_variables(state, key)) if state is not None and key in state.nodes else {}
    variables.update(body.variables or {})
    warnings: list[Any] = []
    try:
        expression = compile_expression(body.expression[1:])
    except FeelSyntaxError as error:
        raise Problem(400, f"The expression cannot be read: {error}") from None
    result = expression.evaluate(variables, now=to_datetime(call.desk.app.now), warnings=warnings)
    return Evaluated(
        expression=body.expression,
        result=to_json(result),
        warnings=[Warned(message=str(each)) for each in warnings],
        referenced_secrets=[],
    )


def _get(path: str, operation: str, verb: Any, summary: str, answer: Any, **more: Any) -> Endpoint:  # noqa: ANN401
    options: dict[str, Any] = {"method": "GET", "role": Role.READER, "group": CLUSTER, **more}
    return Endpoint(path=path, operation_id=operation, verb=verb, summary=summary, answer=answer, **options)


ENDPOINTS = (
    _get("/topology", "getTopology", topology, "The processes that work on the database", Topology, any_role=True),
    _get("/status", "getStatus", status, "Whether the database answers", type(None), role=None, status=204),
    _get("/license", "getLicense", licence, "None is needed", Licence, role=None, group="License"),
    _get("/authentication/me", "getAuthentication", me, "Who one is", Me, any_role=True, group="Authentication"),
    _get(
        "/system/configuration",
        "getSystemConfiguration",
        system_configuration,
        "How the server is set up",
        SystemConfiguration,
        group="System",
    ),
    Endpoint(
        method="PUT",
        path="/clock",
        operation_id="pinClock",
        verb=pin_clock,
        role=Role.ADMIN,
        summary="Set the clock (test mode)",
        group="Clock",
        body=PinClock,
        status=204,
        problems=(501,),
        entity="CLOCK",
    ),
    Endpoint(
        method="POST",
        path="/clock/reset",
        operation_id="resetClock",
        verb=reset_clock,
        role=Role.ADMIN,
        summary="Let the clock go again (test mode)",
        group="Clock",
        status=204,
        problems=(501,),
        entity="CLOCK",
    ),
    Endpoint(
        method="POST",
        path="/expression/evaluation",
        operation_id="evaluateExpression",
        verb=evaluate_expression,
        role=Role.READER,
        summary="Evaluate a FEEL expression",
        group="Expression",
        body=EvaluateExpression,
        answer=Evaluated,
        problems=(404,),
    ),
)
