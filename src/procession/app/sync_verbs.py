"""The synchronous verbs: each is its asynchronous namesake, waited for. It holds no rule and no thread."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Sequence
from typing import TYPE_CHECKING, Any, Concatenate, Generic, ParamSpec, TypeVar

from procession.app.administration import Administration
from procession.app.flows import Flows
from procession.app.forms import Forms
from procession.app.inspection import Inspection
from procession.app.operations import Operations
from procession.app.queue_watch import QueueWatch
from procession.app.queueing import Queueing
from procession.app.queues import Queues
from procession.app.recurring import RecurringJobs
from procession.app.user_tasks import UserTasks
from procession.app.verbs import Verbs
from procession.app.working import ActivatedJob, Working

if TYPE_CHECKING:
    from procession.app.procession import Procession

P = ParamSpec("P")
T = TypeVar("T")


class Face(Generic[P, T]):
    """A verb of the application as a method of ``SyncVerbs``, with the same arguments."""

    def __init__(self, method: Callable[Concatenate[Any, P], Coroutine[Any, Any, T]]) -> None:
        self._method = method
        self.__doc__ = f"See ``Procession.{method.__name__}``."

    def __get__(self, face: SyncVerbs, owner: object = None) -> Callable[P, T]:
        """The method of one face."""

        def verb(*arguments: P.args, **options: P.kwargs) -> T:
            return face.call(self._method(face.app, *arguments, **options))

        verb.__name__ = self._method.__name__
        verb.__doc__ = self.__doc__
        return verb


class SyncVerbs:
    """Everything that can be asked of an application, without ``await``."""

    app: Procession

    def call(self, coroutine: Coroutine[Any, Any, T], *, timeout_s: float | None = None) -> T:
        """Run a coroutine of the application and wait for it."""
        raise NotImplementedError

    deploy = Face(Verbs.deploy)
    publish = Face(Verbs.publish)
    broadcast = Face(Verbs.broadcast)
    start_by_conditions = Face(Verbs.start_by_conditions)
    cancel = Face(Verbs.cancel)
    set_variables = Face(Verbs.set_variables)
    resolve = Face(Verbs.resolve)

    # -- what operators do ----------------------------------------------------------------------------------------
    modify = Face(Operations.modify)
    suspend = Face(Operations.suspend)
    resume = Face(Operations.resume)
    migrate_instance = Face(Operations.migrate_instance)
    retry_job = Face(Operations.retry_job)
    restart = Face(Operations.restart)
    delete_instance = Face(Operations.delete_instance)
    delete_definition = Face(Operations.delete_definition)
    batch = Face(Operations.batch)
    try_batch = Face(Operations.try_batch)
    retry_batch = Face(Operations.retry_batch)
    batches = Face(Operations.batches)
    batch_progress = Face(Operations.batch_progress)
    batch_errors = Face(Operations.batch_errors)
    assign_business_id = Face(Operations.assign_business_id)
    cancel_batch = Face(Operations.cancel_batch)
    suspend_batch = Face(Operations.suspend_batch)
    resume_batch = Face(Operations.resume_batch)
    update_jobs = Face(Operations.update_jobs)

    # -- user tasks and forms -------------------------------------------------------------------------------------
    user_tasks = Face(UserTasks.user_tasks)
    user_task = Face(UserTasks.user_task)
    claim_user_task = Face(UserTasks.claim_user_task)
    unclaim_user_task = Face(UserTasks.unclaim_user_task)
    assign_user_task = Face(UserTasks.assign_user_task)
    update_user_task = Face(UserTasks.update_user_task)
    complete_user_task = Face(UserTasks.complete_user_task)
    forms = Face(Forms.forms)
    form = Face(Forms.form)
    form_file = Face(Forms.form_file)
    user_task_form = Face(Forms.user_task_form)
    start_form = Face(Forms.start_form)
    delete_form = Face(Forms.delete_form)

    # -- jobs of no process ----------------------------------------------------------------------------------------
    enqueue_flow = Face(Flows.enqueue_flow)
    flows = Face(Flows.flows)
    open_batch = Face(Flows.open_batch)
    seal_batch = Face(Flows.seal_batch)
    job_batch = Face(Flows.job_batch)
    job_batches = Face(Flows.job_batches)
    requeue = Face(Queueing.requeue)
    delete_job = Face(Queueing.delete_job)
    put_recurring = Face(RecurringJobs.put_recurring)
    recurring_jobs = Face(RecurringJobs.recurring_jobs)
    recurring_job = Face(RecurringJobs.recurring_job)
    pause_recurring = Face(RecurringJobs.pause_recurring)
    resume_recurring = Face(RecurringJobs.resume_recurring)
    trigger_recurring = Face(RecurringJobs.trigger_recurring)
    remove_recurring = Face(RecurringJobs.remove_recurring)
    queues = Face(Queues.queues)
    pause_queue = Face(Queues.pause_queue)
    resume_queue = Face(Queues.resume_queue)
    pause_type = Face(Queues.pause_type)
    resume_type = Face(Queues.resume_type)
    limits = Face(Queues.limits)
    count_limits = Face(Queues.count_limits)
    set_limit = Face(Queues.set_limit)
    job_record = Face(Queues.job_record)
    job_records = Face(Queues.job_records)
    job_log = Face(Queues.job_log)
    job_attempts = Face(Administration.job_attempts)
    delete_jobs = Face(Queues.delete_jobs)
    requeue_jobs = Face(Queues.requeue_jobs)
    sweep = Face(Queues.sweep)
    find_jobs = Face(Administration.find_jobs)
    count_matching_jobs = Face(Administration.count_matching_jobs)
    job_in_full = Face(Administration.job_in_full)
    flow = Face(Administration.flow)
    change_job = Face(Administration.change_job)
    change_jobs = Face(Administration.change_jobs)
    bulk_page = Face(Administration.bulk_page)
    cancel_job_batch = Face(Administration.cancel_job_batch)
    keep_finished = Face(Administration.keep_finished)
    delete_limit = Face(Administration.delete_limit)
    queue_standings = Face(QueueWatch.queue_standings)
    paused_types = Face(QueueWatch.paused_types)
    job_series = Face(QueueWatch.job_series)
    workers = Face(QueueWatch.workers)
    recurring_history = Face(QueueWatch.recurring_history)
    next_runs = Face(QueueWatch.next_runs)

    # -- workers that are other processes -------------------------------------------------------------------------
    activate_jobs = Face(Working.activate_jobs)
    complete_job = Face(Working.complete_job)
    fail_job = Face(Working.fail_job)
    throw_error = Face(Working.throw_error)
    update_job = Face(Working.update_job)
    stored_job = Face(Working.stored_job)

    def return_jobs(self, jobs: Sequence[ActivatedJob]) -> None:
        """See ``Procession.return_jobs``."""

        async def give_back() -> None:
            self.app.return_jobs(jobs)

        self.call(give_back())

    # -- looking --------------------------------------------------------------------------------------------------
    definitions = Face(Inspection.definitions)
    definition_xml = Face(Inspection.definition_xml)
    decisions = Face(Inspection.decisions)
    decision_xml = Face(Inspection.decision_xml)
    instance = Face(Inspection.instance)
    instances = Face(Inspection.instances)
    count_instances = Face(Inspection.count_instances)
    history = Face(Inspection.history)
    jobs = Face(Inspection.jobs)
    count_jobs = Face(Inspection.count_jobs)
    incidents = Face(Inspection.incidents)
    messages = Face(Inspection.messages)
    subscriptions = Face(Inspection.subscriptions)
    nodes = Face(Inspection.nodes)
