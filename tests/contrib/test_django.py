"""The Django app in a real project, on SQLite and on PostgreSQL: tables, starts, handlers, pages, dead workers."""

from __future__ import annotations

import signal
import threading
from pathlib import Path

import pytest

from procession import Procession
from procession.store._shared.migrations import load_migrations
from tests.support.sources import ROOT

pytestmark = pytest.mark.timeout(300)  # each command is a process that loads Django
MIGRATIONS = ROOT / "src" / "procession" / "contrib" / "django" / "migrations"


# -- tables -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("store", ["sqlite", "postgres"])
def test_there_is_a_migration_of_djangos_for_each_of_a_stores(store):
    ours = [each.version for each in load_migrations(f"procession.store.{store}")]
    files = sorted(MIGRATIONS.glob("0*.py"))
    missing = "add one to contrib/django/migrations: copy the last, with the next number"
    assert [int(each.name[:4]) for each in files] == ours, missing
    for version, each in zip(ours, files, strict=True):
        assert f"MigrateSchema({version})" in each.read_text(), each.name


def test_migrate_makes_the_tables_and_there_is_nothing_more_to_do(empty_project):
    assert "Bring the tables of Procession to version 1" in empty_project.manage("migrate", "--plan")
    assert "needs version" in empty_project.manage("procession_migrate", "--check", fails=True)
    empty_project.manage("migrate")
    assert "No migrations to apply" in empty_project.manage("migrate")
    assert "No changes detected" in empty_project.manage("makemigrations", "--check", "--dry-run")
    assert "nothing to do" in empty_project.manage("procession_migrate", "--check")
    assert empty_project.manage("procession_migrate") == "Nothing to do\n"
    assert empty_project.manage("check") == "System check identified no issues (0 silenced).\n"


async def test_the_tables_are_those_that_the_program_itself_would_make(empty_project):
    empty_project.manage("migrate", "-v", "0")
    found, known = await Procession(empty_project.url).schema_version()
    assert found == known
    assert await Procession(empty_project.url).migrate() == []


async def test_tables_that_are_there_already_are_taken_over(empty_project):
    await Procession(empty_project.url).migrate()
    empty_project.manage("migrate", "-v", "0")
    assert "unchanged" not in empty_project.manage("procession_deploy")


def test_they_come_in_steps(empty_project):
    empty_project.manage("migrate", "-v", "0", "procession", "0002")
    assert "has version 2" in empty_project.manage("procession_migrate", "--check", fails=True)
    assert "needs version" in empty_project.manage("procession_deploy", fails=True)
    empty_project.manage("migrate", "-v", "0")
    empty_project.manage("procession_deploy")
    assert "irreversible" in empty_project.manage("migrate", "procession", "0001", fails=True).lower()


def test_files_are_deployed_from_the_apps_or_by_name_and_wrong_ones_are_told(project, tmp_path):
    assert "wrapping version 1 (unchanged)" in project.manage("procession_deploy")
    (tmp_path / "broken.bpmn").write_text("<nothing/>")
    assert "broken.bpmn' cannot be deployed" in project.manage("procession_deploy", "broken.bpmn", fails=True)


def test_with_a_url_of_its_own_the_tables_are_made_by_the_command_of_its_own(empty_project, tmp_path):
    url = {"DEPOT_URL": f"sqlite:///{tmp_path / 'own.db'}"}
    empty_project.manage("migrate", "-v", "0", **url)
    assert "has version 0" in empty_project.manage("procession_migrate", "--check", fails=True, **url)
    assert "0001_first_schema" in empty_project.manage("procession_migrate", **url)
    assert "wrapping version 1" in empty_project.manage("procession_deploy", **url)


# -- transactions, handlers, pages --------------------------------------------------------------------------------


def test_a_start_follows_the_transaction_it_is_in(project):
    project.tell("a_start_follows_the_transaction_it_is_in")


def test_handlers_use_the_models_start_more_and_outlive_their_connections(project):
    with project.worker():
        project.tell("handlers_use_the_models")
        project.tell("a_handler_starts_more_in_its_own_transaction")
        project.tell("a_connection_that_died_is_not_used_again")


def test_jobs_and_djangos_tasks_follow_the_transaction_and_are_run(project):
    with project.worker():
        project.tell("a_job_follows_the_transaction_it_is_in")
        project.tell("tasks_are_jobs_and_follow_the_transaction")
        project.tell("a_task_is_tried_as_often_as_its_backend_says")
        project.tell("what_became_of_a_task_is_read_back_where_results_are_kept")
    project.tell("what_a_backend_refuses_is_the_frameworks_own_error")


def test_people_look_and_act_in_the_admin_site_as_far_as_they_may(project):
    with project.worker():
        project.tell("people_look_and_act_in_the_admin_site")
    project.tell("who_may_look_may_not_act_and_others_may_neither")


def test_a_project_tests_in_memory_and_on_its_test_database(empty_project, tmp_path):
    name = f"test_{tmp_path.name}"
    told = empty_project.manage("test", "depot", "--noinput", DEPOT_TEST_DATABASE=name)
    assert "Ran 3 tests" in told
    assert "OK" in told


@pytest.mark.kill
def test_what_a_killed_worker_was_doing_is_done_by_another(project, tmp_path):
    with project.worker() as first:
        project.tell("a_job_is_held")
        wait_for(tmp_path / f"runs-{first.pid}")
        first.send_signal(signal.SIGKILL)
        first.wait(30)
        with project.worker() as second:
            wait_for(tmp_path / f"runs-{second.pid}")
            (tmp_path / "go").touch()
            project.tell("the_held_job_was_done_by_somebody")


def test_a_worker_says_what_it_works_on_and_stops_when_told(project):
    with project.worker() as worker:
        project.tell("a_start_follows_the_transaction_it_is_in")
        worker.send_signal(signal.SIGTERM)
        assert worker.wait(30) == 0


def wait_for(path: Path) -> None:
    """Until a file is there: another process makes it."""
    pause = threading.Event()
    for _ in range(1_200):
        if path.exists():
            return
        pause.wait(0.05)
    raise TimeoutError(f"Expected {path.name} within a minute")
