"""What a handler is told about the job that it runs: a ``job: Job`` parameter gets this. It changes nothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from procession.engine import Delivery


class Job:
    """The job at hand. Names are Camunda 8's where it has them."""

    __slots__ = (
        "_canceled",
        "_variables",
        "attempt",
        "business_id",
        "connection",
        "element_id",
        "element_instance_key",
        "headers",
        "key",
        "lease",
        "process_definition_key",
        "process_id",
        "process_instance_key",
        "queue",
        "retries",
        "tenant_id",
        "type",
    )

    def __init__(self, delivery: Delivery, variables: Mapping[str, Any], *, type: str = "", element: str = "") -> None:  # noqa: A002 - Camunda's word
        self.key = delivery.key
        self.lease = delivery.lease
        self.type = type or delivery.type
        self.queue = delivery.queue
        self.attempt = delivery.attempt  # 1 in the first run
        self.retries = delivery.retries  # attempts left, this one included
        self.element_id = element or delivery.element
        self.element_instance_key = delivery.element_instance
        self.process_instance_key = delivery.instance
        self.process_definition_key = delivery.definition
        self.process_id = delivery.process_id
        self.business_id = delivery.business_id
        self.tenant_id = delivery.tenant
        spec = delivery.spec
        self.headers: dict[str, str] = dict(spec.job.headers) if spec is not None and spec.job is not None else {}
        self.connection: Any = None  # of a transactional handler: the driver's, within the transaction of the step
        self._variables = variables
        self._canceled = False

    @property
    def variables(self) -> dict[str, Any]:
        """All variables that the element sees (a plain job: its arguments). A copy of the handler's own."""
        return copy_json(self._variables)

    @property
    def canceled(self) -> bool:
        """Whether this run should end: its time is over, or the process stops. For handlers that run in a thread."""
        return self._canceled

    def cancel(self) -> None:
        """Ask the handler to end (called by the worker)."""
        self._canceled = True

    def __repr__(self) -> str:
        """What it is and where."""
        where = f" of '{self.element_id}' in instance {self.process_instance_key}" if self.element_id else ""
        return f"<Job {self.key} '{self.type}'{where}, attempt {self.attempt}>"

    def __getstate__(self) -> dict[str, Any]:
        """For a process of its own: everything but the flag, which cannot reach it there."""
        return {name: getattr(self, name) for name in self.__slots__ if name != "_canceled"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """In the process of its own."""
        for name, value in state.items():
            setattr(self, name, value)
        self._canceled = False


def copy_json(value: Any) -> Any:  # noqa: ANN401 - any JSON value
    """A copy of a JSON value: what a handler gets is never what the engine keeps."""
    if isinstance(value, dict):
        items = cast("dict[str, Any]", value)
        return {name: copy_json(item) for name, item in items.items()}
    if isinstance(value, list):
        return [copy_json(item) for item in cast("list[Any]", value)]
    return value
