"""The command line ``procession``: one module per noun, everything through the public API of ``app``.

It decides nothing about a process. Nothing heavy is imported before a command needs it: ``--help`` is quick.
"""

from __future__ import annotations


def main() -> None:
    """Run the command line and end the process with its exit code (see ``endings``)."""
    from procession.cli.program import program  # noqa: PLC0415 - `import procession.cli` costs nothing

    program(prog_name="procession")
