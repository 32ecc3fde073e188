"""User tasks: who has them, until when, and how they end. It decides nothing about a process itself.

Candidates say to whom a task is offered; whoever serves people decides who may see and take what. A task that somebody
has is not taken by a claim.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any, cast

from procession.app import arguments
from procession.app.inspection import Inspection
from procession.app.views import UserTask
from procession.core.commands import CompleteUserTask, UpdateUserTask
from procession.core.elements.tasks import PRIORITY_MAX
from procession.errors import InvalidValue, NotFound
from procession.jobs.schedule import date_due
from procession.store.rows import UserTaskFilter


class UserTasks(Inspection):
    """The user tasks of ``Procession``."""

    async def user_tasks(  # noqa: PLR0913 - the filters of a listing
        self,
        *,
        process_instance_key: int = 0,
        process_id: str = "",
        element_id: str = "",
        assignee: str = "",
        unassigned: bool = False,
        candidate_user: str = "",
        candidate_group: str = "",
        due_before: str | datetime | None = None,
        follow_up_before: str | datetime | None = None,
        priority: int = 0,
        after: int = 0,
        limit: int = 100,
    ) -> list[UserTask]:
        """A page of open user tasks, the oldest first; ``after`` is the last key of the page before.

        Dates are aware datetimes or ISO 8601 texts; a task without a date is never due. ``priority``: at least.
        Raises InvalidValue.
        """
        which = UserTaskFilter(
            instance=arguments.key_or_none(process_instance_key, "process_instance_key"),
            process_id=arguments.text(process_id, "process_id"),
            element=arguments.text(element_id, "element_id"),
            assignee=arguments.text(assignee, "assignee"),
            unassigned=bool(unassigned),
            candidate_user=arguments.text(candidate_user, "candidate_user"),
            candidate_group=arguments.text(candidate_group, "candidate_group"),
            due_before=_instant(due_before, "due_before"),
            follow_up_before=_instant(follow_up_before, "follow_up_before"),
            priority=arguments.whole(priority, "priority", 0, PRIORITY_MAX),
            tenant=self._tenant,
            after=arguments.key_or_none(after, "after"),
            limit=arguments.page(limit),
        )
        return [UserTask.of(row) for row in await self._store.list_user_tasks(which)]

    async def user_task(self, user_task_key: int) -> UserTask:
        """One open user task. Raises NotFound."""
        arguments.key(user_task_key, "user_task_key")
        rows = await self._store.list_user_tasks(UserTaskFilter(key=user_task_key, tenant=self._tenant))
        if not rows:
            message = f"Expected user task {user_task_key} to exist, found none with this key"
            raise NotFound(message)
        return UserTask.of(rows[0])

    async def claim_user_task(self, user_task_key: int, assignee: str) -> None:
        """Take a user task that nobody has; of two who do so at once one gets it. Raises NotFound, Conflict."""
        arguments.key(user_task_key, "user_task_key")
        who = arguments.name(assignee, "assignee")
        await self._engine.claim_user_task(user_task_key, who, tenant=self._tenant)

    async def assign_user_task(self, user_task_key: int, assignee: str) -> None:
        """Give a user task to a person, whoever has it; an empty ``assignee`` takes it back. Raises NotFound."""
        arguments.text(assignee, "assignee")
        await self._change(user_task_key, {"assignee": assignee}, "assign" if assignee else "unassign")

    async def unclaim_user_task(self, user_task_key: int) -> None:
        """Give a user task back to those to whom it is offered. Raises NotFound."""
        await self.assign_user_task(user_task_key, "")

    async def update_user_task(
        self,
        user_task_key: int,
        *,
        candidate_users: Iterable[str] | None = None,
        candidate_groups: Iterable[str] | None = None,
        due_date: str | datetime | None = None,
        follow_up_date: str | datetime | None = None,
        priority: int | None = None,
    ) -> None:
        """Change what is given of a user task; an empty list or date takes it away. Raises NotFound, InvalidValue."""
        changes: dict[str, Any] = {}
        if candidate_users is not None:
            changes["candidate_users"] = arguments.names(candidate_users, "candidate_users")
        if candidate_groups is not None:
            changes["candidate_groups"] = arguments.names(candidate_groups, "candidate_groups")
        if due_date is not None:
            changes["due_at"] = _instant(due_date, "due_date")
        if follow_up_date is not None:
            changes["follow_up_at"] = _instant(follow_up_date, "follow_up_date")
        if priority is not None:
            changes["priority"] = arguments.whole(priority, "priority", 0, PRIORITY_MAX)
        if not changes:
            message = "Expected something of the user task to change: candidates, a date or the priority"
            raise InvalidValue(message)
        await self._change(user_task_key, changes, "update")

    async def complete_user_task(self, user_task_key: int, variables: dict[str, Any] | None = None) -> None:
        """Finish a user task with its results. Raises NotFound, InvalidValue."""
        arguments.key(user_task_key, "user_task_key")
        command = CompleteUserTask(user_task_key, arguments.variables(variables))
        await self._engine.command_for("user_task", user_task_key, command, tenant=self._tenant)

    async def _change(self, user_task_key: int, changes: dict[str, Any], action: str) -> None:
        """Change attributes of a user task, once its listeners have agreed. Raises NotFound."""
        arguments.key(user_task_key, "user_task_key")
        command = UpdateUserTask(user_task_key, changes, action)
        await self._engine.command_for("user_task", user_task_key, command, tenant=self._tenant)


def _instant(value: object, what: str) -> int:
    """A date as an instant, 0 for none. Raises InvalidValue."""
    if value is None or value == "":
        return 0
    if isinstance(value, str | datetime):
        text = value.isoformat() if isinstance(value, datetime) else arguments.text(value, what)
        try:
            return date_due(cast("Any", text)).at
        except InvalidValue as error:
            message = f"Expected {what} to be a date such as '2030-01-31T12:00:00Z': {error}"
            raise InvalidValue(message) from error
    message = f"Expected {what} to be a datetime or a text, found {arguments.shown(value)}"
    raise InvalidValue(message)
