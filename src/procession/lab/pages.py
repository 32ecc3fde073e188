"""What every page of the lab shares: one HTML file with its style and script within, readable without network."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from importlib import resources

from procession.lab.results import Bar, Environment

MIB = 1024 * 1024


def page(title: str, lead: str, body: Sequence[str]) -> str:
    """A whole page. `body` is markup."""
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(title)}</title>
<style>
{asset("style.css")}</style>
</head>
<body>
<h1>{escape(title)}</h1>
<p class="lead">{escape(lead)}</p>
{chr(10).join(part for part in body if part)}
<div id="tip" role="tooltip" hidden></div>
<script>
{asset("hover.js")}</script>
</body>
</html>
"""


def asset(name: str) -> str:
    """A file of the folder `page`."""
    return (resources.files("procession.lab") / "page" / name).read_text(encoding="utf-8")


def section(heading: str, *parts: str) -> str:
    """A heading and what follows; nothing if nothing follows."""
    content = "\n".join(part for part in parts if part)
    return f"<h2>{escape(heading)}</h2>\n{content}" if content else ""


def table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table; cells are markup, columns are text."""
    if not rows:
        return ""
    head = "".join(f"<th>{escape(column)}</th>" for column in columns)
    lines = "\n".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows)
    return f'<div class="scroll"><table><thead><tr>{head}</tr></thead><tbody>\n{lines}\n</tbody></table></div>'


def banner(text: str) -> str:
    """A remark that nobody should miss."""
    return f'<p class="banner">{escape(text)}</p>'


def bars_table(bars: Sequence[Bar]) -> str:
    """What was promised and what was found."""
    rows: list[list[str]] = []
    for bar in bars:
        mark = "" if bar.reached is None else "reached" if bar.reached else "missed"
        kind = "good" if bar.reached else "bad"
        found = "not measured" if bar.found is None else f"{bar.found:,.2f}".rstrip("0").rstrip(".")
        rows.append([escape(bar.name), escape(bar.expected), found, f'<span class="{kind}">{mark}</span>'])
    return table(["bar", "promised", "found", ""], rows)


def environment_list(found: Environment, options: dict[str, object]) -> str:
    """Machine, programs and options."""
    pairs = [
        ("processor", f"{found.cpu}, {found.cores} cores"),
        ("memory", f"{found.memory_bytes / MIB / 1024:.1f} GiB"),
        ("system", f"{found.system}, temporary files on {found.filesystem}"),
        ("load before", f"{found.load_average:g} over the last minute"),
        ("Python", f"{found.python}, {found.event_loop}"),
        ("packages", ", ".join(f"{name} {version}" for name, version in found.packages.items())),
    ]
    for database in found.databases:
        settings = ", ".join(f"{name}={value}" for name, value in database.settings.items())
        pairs.append((database.name, f"{database.version} ({database.server}) {settings}"))
    pairs.append(("options", ", ".join(f"{name}={value}" for name, value in options.items() if value not in ("", {}))))
    return "<dl>" + "".join(f"<dt>{escape(name)}</dt><dd>{escape(value)}</dd>" for name, value in pairs) + "</dl>"
