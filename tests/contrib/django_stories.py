"""Stories of the Django app: ``python django_stories.py NAME`` tells one, as the web server's process."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from pathlib import Path

import django

django.setup()

from depot.models import Parcel  # noqa: E402
from django.contrib.auth.models import Permission, User  # noqa: E402
from django.db import connection, transaction  # noqa: E402
from django.test import Client  # noqa: E402
from django.test.utils import setup_test_environment  # noqa: E402
from django.utils import timezone  # noqa: E402

from procession.contrib.django import app, enqueue, start  # noqa: E402

WAIT_S = 60


class Undo(Exception):
    """Leaves an ``atomic`` block."""


def a_start_follows_the_transaction_it_is_in() -> None:
    with suppress(Undo), transaction.atomic():
        start("wrapping", {"parcel": 0}, business_id="undone")
        raise Undo
    with transaction.atomic():
        start("wrapping", {"parcel": 0}, business_id="outer")
        with suppress(Undo), transaction.atomic():
            start("wrapping", {"parcel": 0}, business_id="undone, deeper")
            raise Undo
        with transaction.atomic():
            start("wrapping", {"parcel": 0}, business_id="inner")
        assert app.sync.instances() == []
    start("wrapping", {"parcel": 0}, business_id="without")
    assert {each.business_id for each in app.sync.instances()} == {"outer", "inner", "without"}


def handlers_use_the_models() -> None:
    parcel = Parcel.objects.create(name="a")
    with transaction.atomic():
        key = start("wrapping", {"parcel": parcel.pk})
    assert app.sync.wait(key, timeout=WAIT_S).state == "COMPLETED"
    parcel.refresh_from_db()
    assert (parcel.packed, parcel.counted) == (1, 1)


def a_handler_starts_more_in_its_own_transaction() -> None:
    parcel = Parcel.objects.create(name="b")
    app.sync.open().wait(start("nesting", {"parcel": parcel.pk}), timeout=WAIT_S)
    parcel.refresh_from_db()
    assert app.sync.wait(parcel.key, timeout=WAIT_S).state == "COMPLETED"
    parcel.refresh_from_db()
    assert parcel.packed == 1


def a_connection_that_died_is_not_used_again() -> None:
    parcel = Parcel.objects.create(name="c")
    for _ in range(3):
        assert app.sync.open().wait(start("breaking", {"parcel": parcel.pk}), timeout=WAIT_S).state == "COMPLETED"
    parcel.refresh_from_db()
    assert parcel.packed == 3


def tasks_are_jobs_and_follow_the_transaction() -> None:
    from depot import tasks  # noqa: PLC0415 - after the setup

    parcel = Parcel.objects.create(name="tasks")
    with suppress(Undo), transaction.atomic():
        tasks.pack_by_task.enqueue(parcel.pk, times=100)
        raise Undo
    with transaction.atomic():
        result = tasks.pack_by_task.enqueue(parcel.pk, times=2)
        assert all(str(job.job_key) != result.id for job in app.sync.jobs())
    assert result.status == "READY"
    tasks.count_by_task.enqueue(parcel.pk)
    later = tasks.pack_by_task.using(run_after=timezone.now() + timedelta(days=1), priority=-5).enqueue(parcel.pk)
    (scheduled,) = app.sync.jobs(state="SCHEDULED")
    assert (str(scheduled.job_key), scheduled.priority, scheduled.queue) == (later.id, -5, "default")

    def done() -> bool:
        parcel.refresh_from_db()
        return (parcel.packed, parcel.counted) == (2, 1)

    wait_until(done)


def a_task_is_tried_as_often_as_its_backend_says() -> None:
    from depot import tasks  # noqa: PLC0415 - after the setup

    parcel = Parcel.objects.create(name="patient")
    tasks.third_time.enqueue(parcel.pk)
    lost = tasks.hopeless.enqueue()

    def done() -> bool:
        parcel.refresh_from_db()
        return parcel.counted == 3 and bool(app.sync.jobs(state="FAILED"))

    wait_until(done)
    (failed,) = app.sync.jobs(state="FAILED")
    assert (str(failed.job_key), failed.attempt) == (lost.id, 1)
    assert "ValueError: no way" in failed.error_message


def what_became_of_a_task_is_read_back_where_results_are_kept() -> None:
    from depot import tasks  # noqa: PLC0415 - after the setup

    well = tasks.weighed.enqueue(7)
    badly = tasks.weighed.enqueue(grams=-1)

    def done() -> bool:
        well.refresh()
        badly.refresh()
        return well.is_finished and badly.is_finished

    wait_until(done)
    assert (well.status, well.return_value, well.args, well.attempts) == ("SUCCESSFUL", {"grams": 7}, [7], 2)
    (error,) = well.errors
    assert error.exception_class is LookupError
    assert "the scales are not free" in error.traceback
    assert (badly.status, badly.kwargs) == ("FAILED", {"grams": -1})
    assert [each.exception_class for each in badly.errors] == [LookupError, ValueError]
    assert tasks.weighed.get_result(well.id).return_value == {"grams": 7}
    for nobody in ("1", "no key"):
        try:
            tasks.weighed.get_result(nobody)
        except Exception as error:  # noqa: BLE001 - its module differs from one release of the framework to the next
            assert type(error).__name__ == "TaskResultDoesNotExist"  # noqa: PT017 - as above
        else:
            raise AssertionError(nobody)


def what_a_backend_refuses_is_the_frameworks_own_error() -> None:
    from depot import tasks  # noqa: PLC0415 - after the setup

    refused = 0
    for wrong in ({"queue_name": "unknown"}, {"priority": 1_000}):
        try:
            tasks.pack_by_task.using(**wrong)
        except Exception as error:  # noqa: BLE001 - its name differs from one release of the framework to the next
            refused += "InvalidTask" in type(error).__name__
    assert refused == 2
    try:
        tasks.pack_by_task.get_result("1")
    except NotImplementedError:
        refused += 1
    assert refused == 3


def a_job_follows_the_transaction_it_is_in() -> None:
    parcel = Parcel.objects.create(name="job")
    with suppress(Undo), transaction.atomic():
        enqueue("pack", {"parcel": parcel.pk})
        raise Undo
    with transaction.atomic():
        job = enqueue("pack", {"parcel": parcel.pk})
        assert app.sync.jobs() == []
    assert job.queue == "default"

    def done() -> bool:
        parcel.refresh_from_db()
        return parcel.packed == 1

    wait_until(done)


def a_job_is_held() -> None:
    parcel = Parcel.objects.create(name="held")
    with transaction.atomic():
        start("holding", {"parcel": parcel.pk, "folder": str(Path.cwd())}, business_id="held")


def the_held_job_was_done_by_somebody() -> None:
    (instance,) = app.sync.open().instances(business_id="held")
    assert app.sync.wait(instance.process_instance_key, timeout=WAIT_S).state == "COMPLETED"
    assert Parcel.objects.get(name="held").packed == 1


def people_look_and_act_in_the_admin_site() -> None:
    setup_test_environment()
    app.sync.open()
    key = start("refusing", business_id="R-1")
    wait_until(app.sync.incidents)
    client = Client()
    User.objects.create_superuser("root", password="root")
    assert client.login(username="root", password="root")

    listed = page(client, "processinstance/")
    assert str(key) in listed
    assert "R-1" in listed
    assert str(key) in page(client, "processinstance/?state=ACTIVE&with_incident=yes")
    assert str(key) not in page(client, "processinstance/?state=COMPLETED")
    shown = page(client, f"processinstance/{key}/change/")
    assert "refuse" in shown
    assert "ValueError: there is no room" in shown

    (incident,) = app.sync.incidents()
    assert str(incident.incident_key) in page(client, "incident/")
    assert "there is no room" in page(client, f"incident/{incident.incident_key}/change/")
    (job, *_) = app.sync.jobs(process_instance_key=key)
    assert str(job.job_key) in page(client, f"job/?process_instance_key={key}")
    assert "refuse" in page(client, f"job/{job.job_key}/change/")
    assert "Expected instance to be a key" in page(client, "job/?process_instance_key=abc")
    assert "found none" in page(client, "job/1/change/", moved=True)
    assert "found none" in page(client, "processinstance/1/change/", moved=True)

    assert "of instance" in act(client, f"job/{job.job_key}/change/", "requeue")
    later = enqueue("pack", {"parcel": 0}, delay="1h")
    assert "1 deleted" in act(client, "job/", "delete", later.job_key)

    Path("mended").touch()
    act(client, "incident/", "resolve", incident.incident_key)
    wait_until(lambda: app.sync.user_tasks(process_instance_key=key))
    assert "Expected" in act(client, "incident/", "resolve", incident.incident_key)
    assert 'href="/admin/procession/processinstance/"' in client.get("/admin/").content.decode()
    assert "Choose an action" in act(client, "processinstance/", "", key)
    assert "Choose an action" in act(client, "processinstance/", "cancel")
    assert "1 suspended" in act(client, "processinstance/", "suspend", key)
    assert "1 resumed" in act(client, f"processinstance/{key}/change/", "resume")
    assert "1 canceled" in act(client, f"processinstance/{key}/change/", "cancel")
    assert app.sync.instance(key).instance.state == "TERMINATED"


def who_may_look_may_not_act_and_others_may_neither() -> None:
    setup_test_environment()
    app.sync.open()
    key = start("refusing")
    watcher = User.objects.create_user("watcher", password="w", is_staff=True)
    watcher.user_permissions.add(Permission.objects.get(codename="view_processinstance"))
    client = Client()
    assert client.login(username="watcher", password="w")
    assert str(key) in page(client, "processinstance/")
    assert 'value="cancel"' not in page(client, "processinstance/")
    url = "/admin/procession/processinstance/"
    assert client.post(url, {"action": "cancel", "key": key}).status_code == 403
    assert client.post(f"{url}{key}/change/", {"action": "cancel"}).status_code == 403
    assert client.get("/admin/procession/incident/").status_code == 403
    assert client.get(f"{url}add/").status_code == 404
    assert app.sync.instance(key).instance.state == "ACTIVE"
    assert Client().get("/admin/procession/processinstance/").status_code == 302
    strict = Client(enforce_csrf_checks=True)
    User.objects.create_superuser("other", password="o")
    assert strict.login(username="other", password="o")
    assert strict.post(url, {"action": "cancel", "key": key}).status_code == 403


def page(client: Client, path: str, *, moved: bool = False) -> str:
    answer = client.get(f"/admin/procession/{path}", follow=moved)
    assert answer.status_code == 200, answer.content
    return answer.content.decode()


def act(client: Client, path: str, action: str, *keys: int) -> str:
    answer = client.post(f"/admin/procession/{path}", {"action": action, "key": keys}, follow=True)
    assert answer.status_code == 200, answer.content
    return answer.content.decode()


def wait_until(found: Callable[[], object]) -> None:
    """Ask until there is an answer: the worker is another process, and tells this one nothing."""
    pause = threading.Event()
    for _ in range(WAIT_S * 20):
        if found():
            return
        pause.wait(0.05)
    raise TimeoutError(f"Expected the worker to get there within {WAIT_S} s")


if __name__ == "__main__":
    app.sync.open()
    try:
        globals()[sys.argv[1]]()
    finally:
        app.sync.close()
        connection.close()
    sys.stdout.write(f"{sys.argv[1]}: told\n")
