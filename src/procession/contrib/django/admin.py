"""Pages of Django's admin site: instances, incidents, jobs. They ask the application and give it commands.

Nothing is read from or written to a table here, so that the rules that hold for everybody hold for people too. Who may
look needs the permission ``view``, who may act ``change`` (``procession.view_processinstance``, ...).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse

from procession.app import SyncProcession
from procession.contrib.django import models
from procession.contrib.django.application import app
from procession.contrib.django.pages import INCIDENTS, INSTANCES, JOBS, Action, Filter, Link, Page, Table
from procession.errors import ProcessionError, Rejected

CHOSEN_MAX = 500  # with one action

if TYPE_CHECKING:
    Base = admin.ModelAdmin[Any]  # generic for type checkers only
else:
    Base = admin.ModelAdmin


class Pages(Base):
    """A list and a page for each of its rows, of what the application says."""

    page: Page

    def get_urls(self) -> list[URLPattern]:
        """The list and the page of a row; ModelAdmin's others are about tables."""

        def view(function: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
            return self.admin_site.admin_view(function)

        name = f"procession_{self.opts.model_name}"
        return [
            path("", view(self.changelist_view), name=f"{name}_changelist"),
            path("<int:object_id>/change/", view(self.change_page), name=f"{name}_change"),
        ]

    def has_add_permission(self, request: HttpRequest) -> bool:  # noqa: ARG002 - the signature is Django's
        """Nothing is added here."""
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:  # noqa: ANN401, ARG002
        """Nothing is deleted here."""
        return False

    def changelist_view(self, request: HttpRequest, extra_context: Mapping[str, Any] | None = None) -> HttpResponse:
        """The list; a POST is an action on chosen rows."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        if request.method == "POST":
            self._act(request, request.POST.getlist("key"))
            return HttpResponseRedirect(request.get_full_path())
        which = {each.name: request.GET.get(each.name, "").strip() for each in self.page.filters}
        rows: Sequence[Any] = ()
        following = 0
        try:
            listing = self.page.listing(app.sync.open(), _checked(which, self.page.filters), _number(request, "after"))
            rows, following = [(key, _shown(cells)) for key, cells in listing.rows], listing.next
        except (ProcessionError, ValueError) as error:
            messages.error(request, str(error))
        context = {
            **self._context(request),
            **(extra_context or {}),
            "title": str(self.opts.verbose_name_plural).capitalize(),
            "headings": self.page.headings,
            "rows": rows,
            "filters": [(each, which[each.name]) for each in self.page.filters],
            "next": self._next(request, following),
        }
        return TemplateResponse(request, "procession/list.html", context)

    def change_page(self, request: HttpRequest, object_id: int) -> HttpResponse:
        """Everything about one row; a POST is an action on it."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        if request.method == "POST":
            self._act(request, [str(object_id)])
            return HttpResponseRedirect(request.get_full_path())
        try:
            details = self.page.details(app.sync.open(), object_id)
        except Rejected as error:
            messages.error(request, str(error))
            return HttpResponseRedirect(self._list_url())
        context = {
            **self._context(request),
            "title": f"{str(self.opts.verbose_name).capitalize()} {object_id}",
            "facts": [(name, _cell(value)) for name, value in details.facts],
            "tables": [_shown_table(table) for table in details.tables],
            "code": details.code,
        }
        return TemplateResponse(request, "procession/details.html", context)

    def _context(self, request: HttpRequest) -> dict[str, Any]:
        """What both pages need."""
        may = self.has_change_permission(request)
        return {
            **self.admin_site.each_context(request),
            "opts": self.opts,
            "actions": self.page.actions if may else (),
            "list_url": self._list_url(),
        }

    def _list_url(self) -> str:
        """Where the list is."""
        return reverse(f"{self.admin_site.name}:procession_{self.opts.model_name}_changelist")

    def _next(self, request: HttpRequest, after: int) -> str:
        """The query of the next page, or an empty text."""
        if not after:
            return ""
        query = request.GET.copy()
        query["after"] = str(after)
        return query.urlencode()

    def _act(self, request: HttpRequest, keys: Iterable[str]) -> None:
        """Give a command for each of the chosen, and say what became of it. Raises PermissionDenied."""
        if not self.has_change_permission(request):
            raise PermissionDenied
        action = next((each for each in self.page.actions if each.name == request.POST.get("action")), None)
        chosen = [int(key) for key in keys if key.isdecimal()][:CHOSEN_MAX]
        if action is None or not chosen:
            messages.warning(request, "Choose an action, and what it is for")
            return
        done = _given(request, app.sync.open(), action, chosen)
        if done:
            messages.success(request, f"{done} {action.done}")


def _given(request: HttpRequest, procession: SyncProcession, action: Action, keys: Sequence[int]) -> int:
    """How many commands were taken; what refuses one is said."""
    done = 0
    for key in keys:
        try:
            action.verb(procession, key)
        except ProcessionError as error:
            messages.error(request, f"{key}: {error}")
        else:
            done += 1
    return done


def _checked(which: Mapping[str, str], filters: Iterable[Filter]) -> Mapping[str, str]:
    """The filters, numbers looked at. Raises ValueError."""
    for each in filters:
        value = which[each.name]
        if each.number and value and not value.isdecimal():
            message = f"Expected {each.label.lower()} to be a key, found '{value}'"
            raise ValueError(message)
    return which


def _number(request: HttpRequest, name: str) -> int:
    """A number of the query, 0 for none. Raises ValueError."""
    return int(request.GET.get(name) or 0)


def _shown(cells: Iterable[object]) -> list[dict[str, object]]:
    """Cells as the templates read them."""
    return [_cell(value) for value in cells]


def _shown_table(table: Table) -> dict[str, object]:
    """A table as the templates read it."""
    return {"title": table.title, "headings": table.headings, "rows": [_shown(row) for row in table.rows]}


def _cell(value: object) -> dict[str, object]:
    """A text, with where it leads to; links go by the name that the site gives its pages."""
    if isinstance(value, Link):
        return {"text": value.key, "url": reverse(f"admin:procession_{value.page}_change", args=(value.key,))}
    return {"text": "" if value is None else value, "url": ""}


@admin.register(models.ProcessInstance)
class ProcessInstanceAdmin(Pages):
    """Instances, running and ended."""

    page = INSTANCES


@admin.register(models.Incident)
class IncidentAdmin(Pages):
    """Open incidents."""

    page = INCIDENTS


@admin.register(models.Job)
class JobAdmin(Pages):
    """The queue."""

    page = JOBS
