"""``manage.py procession_deploy``: store the BPMN and DMN files of the project's apps, all or nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.apps import apps
from django.core.management.base import BaseCommand, CommandError, CommandParser

from procession.contrib.django.application import app
from procession.errors import Rejected

FOLDER = "processes"
ENDINGS = (".bpmn", ".dmn")


class Command(BaseCommand):
    """Deploy."""

    help = f"Deploys BPMN and DMN files together; without names, those in each app's folder '{FOLDER}'."

    def add_arguments(self, parser: CommandParser) -> None:
        """The options."""
        parser.add_argument("files", nargs="*", help=f"Files; without any, {FOLDER}/ of each app.")

    def handle(self, *args: Any, **options: Any) -> None:  # noqa: ANN401, ARG002 - the signature is Django's
        """Deploy, and say which versions there are now. Raises CommandError with every problem of every file."""
        files = [Path(name) for name in options["files"]] or files_of_apps()
        if not files:
            message = f"Expected files, or a folder '{FOLDER}' with {' or '.join(ENDINGS)} files in an app; found none"
            raise CommandError(message)
        try:
            with app.sync as procession:
                deployed = procession.deploy(*files)
        except Rejected as error:
            raise CommandError(str(error)) from error
        for process in deployed:
            self._say(process.process_definition_id, process.version, created=process.created)
        for decision in deployed.decisions:
            self._say(decision.decision_definition_id, decision.version, created=decision.created)

    def _say(self, name: str, version: int, *, created: bool) -> None:
        """One line."""
        self.stdout.write(f"{name} version {version}{'' if created else ' (unchanged)'}")


def files_of_apps() -> list[Path]:
    """The files in the apps' folders, by app and name."""
    folders = [Path(each.path) / FOLDER for each in apps.get_app_configs()]
    return [path for folder in folders for path in sorted(folder.glob("*")) if path.suffix in ENDINGS]
