"""Writes docs/settings.md from the fields of the settings: `python -m scripts.settings_page`."""

from __future__ import annotations

import json
from pathlib import Path

from domain.settings import ShownSetting, UserSettings, groups
from shared.setting import about, to_plain

PAGE = Path(__file__).resolve().parents[1] / "docs" / "settings.md"
HEAD = """# Settings

<!-- Written by `python -m scripts.settings_page` from the fields in domain/settings.py; do not edit. -->

They are in `settings.json` of your own folder (`~/.circuit_design_ai/`, or the folder that
`CIRCUIT_DESIGN_AI_HOME` names), as one JSON object; any of them may be left out:

    {"language": "en", "libraries": ["~/models"], "agent": {"rounds": 30}, "results": {"keep": 50}}

A command-line option overrides the file for one call; what is not in the file comes from the environment,
else it is the default. A value that is not understood is reported at the start with the name of the setting
and what it must be, and the default is used (for a group such as `agent`, all its defaults). A file that is
not a JSON object is kept beside its place (`settings.json.broken-...`). Entries of a newer version of the
program stay in the file. Providers, keys, permissions, simulators and the window have files of their own:
[providers](providers.md), [keys](keys.md), [confirmation](confirmation.md), [simulator](simulation.md),
[window](window.md).
"""


def page() -> str:
    """The whole page."""
    parts = [HEAD]
    for group in groups(UserSettings(), {}):
        parts.append(f"\n## {group.title}\n\n" + (f"{group.help}\n\n" if group.help else ""))
        parts.append("| setting | what it is | default | can be |\n|---|---|---|---|\n")
        parts += map(_row, group.settings)
    return "".join(parts)


def _row(one: ShownSetting) -> str:
    told = about(one.field)
    instead = [f"option `{told.option}`"] if told.option else []
    if told.variables:
        instead.append("environment " + ", ".join(f"`{name}`" for name in told.variables))
    what = f"**{told.title}** {told.help}" + (f" ({'; '.join(instead)})" if instead else "")
    default = "-" if one.value in (None, "", (), {}) else f"`{json.dumps(to_plain(one.value))}`"
    return f"| `{one.name}` | {what} | {default} | {one.allowed} |\n"


if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8")
