"""The backend for Django's Tasks framework: tasks are jobs of Procession's queue.

    TASKS = {"default": {"BACKEND": "procession.contrib.django.tasks.ProcessionBackend", "QUEUES": ["default", "mail"],
                         "OPTIONS": {"retries": 3, "backoff": "exponential", "results": "1d"}}}

A task that is enqueued within ``transaction.atomic()`` is there when, and only when, that commits. With ``results``
what became of a task can be read back for so long (``get_result``, ``refresh``); without it a job that has succeeded
is deleted. The framework is Django's own from 6.0 on, before that the package
``django-tasks``.
"""

from __future__ import annotations

import traceback
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from django.utils import timezone
from django.utils.module_loading import import_string

from procession.contrib.django.application import app
from procession.contrib.django.transactions import enqueue
from procession.errors import InvalidValue, Misconfigured, NotFound
from procession.worker import Job

if TYPE_CHECKING:
    from django.tasks import signals, task_backends  # pyright: ignore[reportMissingModuleSource] - from Django 6.0 on
    from django.tasks.backends.base import BaseTaskBackend  # pyright: ignore[reportMissingModuleSource]

    from procession.app.job_lists import JobInFull

    TaskContext: Any  # generic in Django's types, in ways that differ from one release to the next
    TaskResultDoesNotExist: type[Exception]
    TaskError: Any
    TaskResult: Any
    TaskResultStatus: Any
else:
    try:
        from django.tasks import TaskContext, TaskResult, TaskResultStatus, signals, task_backends
        from django.tasks.backends.base import BaseTaskBackend
        from django.tasks.base import TaskError
        from django.tasks.exceptions import TaskResultDoesNotExist
    except ImportError:  # before Django 6.0
        from django_tasks import TaskContext, TaskResult, TaskResultStatus, signals, task_backends
        from django_tasks.backends.base import BaseTaskBackend
        from django_tasks.base import TaskError
        from django_tasks.exceptions import TaskResultDoesNotExist

JOB_TYPE = "django-task"
HANDLER_OPTIONS = {"retries", "backoff", "timeout", "concurrency"}
OPTIONS = HANDLER_OPTIONS | {"results"}
STATES = {"RUNNING": "RUNNING", "SUCCEEDED": "SUCCESSFUL", "FAILED": "FAILED"}  # all others are READY


class ProcessionBackend(BaseTaskBackend):
    """Named in TASKS. ``OPTIONS`` are those of ``@app.job`` (without them a task is tried once), and ``results``."""

    supports_defer = True
    supports_async_task = True
    supports_priority = True
    supports_get_result = False  # but where OPTIONS has results

    def __init__(self, alias: str, params: Mapping[str, Any]) -> None:
        super().__init__(alias, dict(params))
        if unknown := sorted(self.options.keys() - OPTIONS):
            message = f"Expected TASKS['{alias}']['OPTIONS'] to have {', '.join(sorted(OPTIONS))}, found '{unknown[0]}'"
            raise Misconfigured(message)
        self.results = self.options.get("results")
        self.supports_get_result = self.results is not None
        for queue in sorted(self.queues):
            register(alias, queue, self.options)

    def enqueue(self, task: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:  # noqa: ANN401 - a TaskResult
        """Put a task into the queue, within the transaction that is open. Raises what ``validate_task`` raises."""
        self.validate_task(task)
        result = _result(task, "", args, kwargs, self.alias)
        options: dict[str, Any] = {} if task.run_after is None else {"at": _aware(task.run_after)}
        if self.results is not None:
            options |= {"output": True, "keep": self.results}
        values = {"task": task.module_path, "positional": list(result.args), "named": dict(result.kwargs)}
        queued = enqueue(
            job_type(self.alias, task.queue_name), values, queue=task.queue_name, priority=int(task.priority), **options
        )
        _set(result, id=str(queued.job_key), enqueued_at=timezone.now())
        signals.task_enqueued.send(type(self), task_result=result)
        return result

    def get_result(self, result_id: str) -> Any:  # noqa: ANN401 - a TaskResult
        """What became of a task. Raises TaskResultDoesNotExist; NotImplementedError where results are not kept."""
        if self.results is None:
            message = (
                f"Expected TASKS['{self.alias}']['OPTIONS'] to have 'results', such as '1d': without it a task that "
                "has succeeded leaves nothing"
            )
            raise NotImplementedError(message)
        try:
            found = app.sync.open().job_in_full(int(result_id))
        except (NotFound, InvalidValue, ValueError) as error:
            raise TaskResultDoesNotExist(result_id) from error
        if not found.job.type.startswith(f"{JOB_TYPE}:{self.alias}:") or found.job.state == "DELETED":
            raise TaskResultDoesNotExist(result_id)
        return _read_back(found, self.alias)


def _read_back(found: JobInFull, alias: str) -> Any:  # noqa: ANN401 - a TaskResult
    """A result from the job of a task, as far as a job remembers: not when its last attempt began."""
    job, tried = found.job, found.attempts
    task = import_string(job.args["task"])
    changed = {"priority": job.priority, "queue_name": job.queue, "backend": alias}
    result = _result(task.using(**changed), str(job.job_key), job.args["positional"], job.args["named"], alias)
    for each in tried:
        path = each.error_type if "." in each.error_type else f"builtins.{each.error_type}"
        result.errors.append(TaskError(exception_class_path=path, traceback=each.message))
    workers = [each.worker for each in tried]
    result.worker_ids.extend([*workers, *["procession"] * (job.attempt - len(workers))])
    status = TaskResultStatus[STATES.get(job.state, "READY")]
    last = job.ended_at or (tried[-1].at if tried else None)
    _set(result, status=status, enqueued_at=job.created_at, finished_at=job.ended_at, last_attempted_at=last)
    _set(result, started_at=tried[0].at if tried else job.ended_at, _return_value=job.output)
    return result


def job_type(alias: str, queue: str) -> str:
    """The job type of a backend's queue: each has a handler of its own, and so a worker claims from each."""
    return f"{JOB_TYPE}:{alias}:{queue}"


def register(alias: str, queue: str, options: Mapping[str, Any]) -> None:
    """The handler of a backend's queue. Django makes a backend again in each thread; its handlers are there once."""
    name = job_type(alias, queue)
    if name in app.handlers.jobs:
        return

    def run(job: Job, task: str, positional: list[Any], named: dict[str, Any]) -> Any:  # noqa: ANN401 - its result
        value = run_task(alias, job, task, positional, named)
        return value if options.get("results") is not None else None

    settings: dict[str, Any] = {"retries": 1, **{name: options[name] for name in HANDLER_OPTIONS & options.keys()}}
    app.job(name, queue=queue, **settings)(run)


def run_task(alias: str, job: Job, task: str, positional: list[Any], named: dict[str, Any]) -> Any:  # noqa: ANN401 - what it returns
    """Run a task; what it returns. Raises what it raises, so that it is tried again as its backend's options say."""
    found = import_string(task)
    result = _result(found, str(job.key), positional, named, alias)
    begun = timezone.now()
    _set(result, status=TaskResultStatus.RUNNING, started_at=begun, last_attempted_at=begun)
    result.worker_ids.extend([f"procession-{job.lease}"] * job.attempt)
    backend = type(task_backends[alias])
    signals.task_started.send(sender=backend, task_result=result)
    try:
        context = [TaskContext(task_result=result)] if found.takes_context else []
        value = found.call(*context, *result.args, **result.kwargs)
    except BaseException as error:
        path = f"{type(error).__module__}.{type(error).__qualname__}"
        words = "".join(traceback.format_exception(error))
        result.errors.append(TaskError(exception_class_path=path, traceback=words))
        _set(result, status=TaskResultStatus.FAILED, finished_at=timezone.now())
        signals.task_finished.send(backend, task_result=result)
        raise
    _set(result, status=TaskResultStatus.SUCCESSFUL, finished_at=timezone.now(), _return_value=value)
    signals.task_finished.send(backend, task_result=result)
    return value


def _result(task: Any, id: str, args: Sequence[Any], kwargs: Mapping[str, Any], alias: str) -> Any:  # noqa: A002, ANN401 - as the framework calls them
    """A result that is to come."""
    return TaskResult(
        task=task,
        id=id,
        status=TaskResultStatus.READY,
        enqueued_at=None,
        started_at=None,
        finished_at=None,
        last_attempted_at=None,
        args=list(args),
        kwargs=dict(kwargs),
        backend=alias,
        errors=[],
        worker_ids=[],
    )


def _set(result: Any, **fields: object) -> None:  # noqa: ANN401 - a TaskResult
    """Change a result, which is frozen for everybody but its backend."""
    for name, value in fields.items():
        object.__setattr__(result, name, value)


def _aware(moment: Any) -> Any:  # noqa: ANN401 - a datetime
    """An aware instant; without USE_TZ Django's are of the local zone."""
    return moment if timezone.is_aware(moment) else timezone.make_aware(moment)
