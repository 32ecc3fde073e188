"""All commands in one place: their names, their groups, their order in the help. It does nothing itself."""

from __future__ import annotations

from typing import Annotated

import typer

from procession import __version__
from procession.cli import (
    assigning,
    audit,
    batches,
    bench,
    credentials,
    database,
    decisions,
    definitions,
    deleting,
    deploy,
    dev,
    dmn,
    enqueue,
    explore,
    feel,
    flows,
    forms,
    incidents,
    instance,
    instances,
    lint,
    messages,
    migrate,
    modify,
    nodes,
    queue_jobs,
    queues,
    recurring,
    restart,
    retry,
    serve,
    start,
    suspend,
    tasks,
    variables,
    work,
    workers,
)
from procession.cli.endings import Program
from procession.cli.options import AsJson, Debug, Url, add

BUILD, RUN, LOOK, ACT, OPERATE = "Build", "Run", "Look", "Act", "Operate"

program = typer.Typer(
    name="procession",
    cls=Program,
    help="Durable BPMN processes and jobs for Python, on the database that you already run.",
    epilog="Exit codes: 0 done, 1 rejected or findings, 2 wrong usage, 3 unavailable (try again).",
    invoke_without_command=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(asked: bool) -> None:
    """Print the version and end."""
    if asked:
        typer.echo(f"procession {__version__}")
        raise typer.Exit


@program.callback()
def root(
    context: typer.Context,
    url: Url = "",
    as_json: AsJson = False,
    debug: Debug = False,
    version: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True, help="Print it.")] = False,
) -> None:
    """Take the options that stand before the command."""
    del version
    add(url, as_json, debug)
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


program.command("dev", rich_help_panel=BUILD)(dev.dev)
program.command("lint", rich_help_panel=BUILD)(lint.lint)
program.command("explore", rich_help_panel=BUILD)(explore.explore)
program.command("deploy", rich_help_panel=BUILD)(deploy.deploy)
program.command("feel", rich_help_panel=BUILD)(feel.feel)
program.add_typer(dmn.group, name="dmn", rich_help_panel=BUILD)

program.command("work", rich_help_panel=RUN)(work.work)
program.command("serve", rich_help_panel=RUN)(serve.serve)
program.command("start", rich_help_panel=RUN)(start.start)
program.command("enqueue", rich_help_panel=RUN)(enqueue.enqueue)
program.command("publish", rich_help_panel=RUN)(messages.publish)
program.command("broadcast", rich_help_panel=RUN)(messages.broadcast)
program.command("conditions", rich_help_panel=RUN)(messages.conditions)

program.command("definitions", rich_help_panel=LOOK)(definitions.definitions)
program.command("decisions", rich_help_panel=LOOK)(decisions.decisions)
program.command("forms", rich_help_panel=LOOK)(forms.forms)
program.command("form", rich_help_panel=LOOK)(forms.form)
program.command("instances", rich_help_panel=LOOK)(instances.instances)
program.command("instance", rich_help_panel=LOOK)(instance.instance)
program.command("incidents", rich_help_panel=LOOK)(incidents.incidents)
program.add_typer(queue_jobs.group, name="jobs", rich_help_panel=LOOK)
program.command("messages", rich_help_panel=LOOK)(messages.messages)
program.command("subscriptions", rich_help_panel=LOOK)(messages.subscriptions)
program.command("nodes", rich_help_panel=LOOK)(nodes.nodes)
program.command("workers", rich_help_panel=LOOK)(workers.workers)
program.add_typer(flows.flows, name="flows", rich_help_panel=LOOK)
program.command("batches", rich_help_panel=LOOK)(batches.batches)

program.command("resolve", rich_help_panel=ACT)(incidents.resolve)
program.command("retry", rich_help_panel=ACT)(retry.retry)
program.command("cancel", rich_help_panel=ACT)(instances.cancel)
program.command("modify", rich_help_panel=ACT)(modify.modify)
program.command("migrate", rich_help_panel=ACT)(migrate.migrate)
program.command("restart", rich_help_panel=ACT)(restart.restart)
program.command("suspend", rich_help_panel=ACT)(suspend.suspend)
program.command("resume", rich_help_panel=ACT)(suspend.resume)
program.command("business-id", rich_help_panel=ACT)(assigning.business_id)
program.command("update-jobs", rich_help_panel=ACT)(assigning.update_jobs)
program.command("batch", rich_help_panel=ACT)(batches.batch)
program.command("delete", rich_help_panel=ACT)(deleting.delete)
program.add_typer(queues.queues, name="queues", rich_help_panel=OPERATE)
program.add_typer(queues.limits, name="limits", rich_help_panel=OPERATE)
program.add_typer(flows.batches, name="job-batches", rich_help_panel=OPERATE)
program.add_typer(recurring.group, name="recurring", rich_help_panel=OPERATE)
program.add_typer(tasks.group, name="tasks", rich_help_panel=ACT)
program.add_typer(variables.group, name="variables", rich_help_panel=ACT)

program.command("audit", rich_help_panel=OPERATE)(audit.audit)
program.add_typer(credentials.tokens, name="tokens", rich_help_panel=OPERATE)
program.add_typer(credentials.users, name="users", rich_help_panel=OPERATE)
program.add_typer(database.group, name="db", rich_help_panel=OPERATE)
bench.mount(program, panel=OPERATE)
