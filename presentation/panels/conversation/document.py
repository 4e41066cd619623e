"""A stored conversation as one HTML file that needs nothing else: its rows as they are shown.

Nothing in it runs, nothing is loaded: no script, no address but links somebody clicks, and a policy that says
so. Formulas stand as TeX. What was replaced by another version stands in its place, marked. Without Qt.
"""

from __future__ import annotations

import asyncio
import html
import re
from collections.abc import Iterable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from application.conversation.session_texts import with_versions
from presentation.look import css_variables
from presentation.panels.conversation import blocks as b
from presentation.panels.conversation.attached import with_thumbnails
from presentation.panels.conversation.card_pictures import stored_picture, with_picture
from presentation.panels.conversation.formulas import with_formulas
from presentation.panels.conversation.html_view import HtmlItems, kind_of
from presentation.panels.conversation.items import Item, has_result
from presentation.panels.conversation.stored import items_of, title_of
from presentation.translation import Translator
from shared.message import msg, visible
from shared.redaction import redact_known

if TYPE_CHECKING:
    from application.conversation.shown_session import ShownSession
    from application.groups.conversations import Conversations
    from application.groups.project import Project
    from application.groups.simulation import Simulation

_MOST_CHARTS = 40
"""Of the newest runs, as in the window."""
_WEB = Path(__file__).resolve().parents[3] / "resources" / "web"
_FACE = re.compile(r"@font-face \{[^}]*\}\n?")
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"


async def html_document(
    root: Path,
    session: ShownSession,
    translate: Translator,
    *,
    project: Project,
    conversations: Conversations,
    simulation: Simulation,
) -> str:
    """The file's text; pictures of runs and attachments are in it as far as they are kept."""
    operations = await project.operations.list(root)
    items = await asyncio.to_thread(items_of, with_versions(session), operations)
    items = await with_thumbnails(conversations.attachments, root, items)
    items = await _with_charts(items, root, simulation)
    return redact_known(await asyncio.to_thread(_document, session, items, translate))


async def _with_charts(items: Iterable[Item], root: Path, simulation: Simulation) -> tuple[Item, ...]:
    shown, left = list(items), _MOST_CHARTS
    for place in range(len(shown) - 1, -1, -1):
        item = shown[place]
        if left and has_result(item):
            left -= 1
            picture = await stored_picture(simulation.waveforms, root, item)
            shown[place] = with_picture(item, picture)
    return tuple(shown)


def _document(session: ShownSession, items: Iterable[Item], translate: Translator) -> str:
    gone = {each.id for each in session.history if each.is_replaced}
    gone |= {call.id for each in session.history if each.is_replaced for call in each.tool_calls}
    rows, draw = [], PrintedItems(translate)
    badge = f'<span class="badge">{html.escape(translate(msg("replaced")))}</span>'
    for item in items:
        is_gone = item.key in gone
        look = f"item {kind_of(item)}{' replaced' if is_gone else ''}"
        rows.append(f'<div class="{look}">{badge if is_gone else ""}{with_formulas(draw(item))}</div>')
    said = next((each.text for each in session.history if each.role == "user"), "")
    title = html.escape(visible(title_of(session.name, said[:80])))
    facts = html.escape(visible(f"{session.id} · {session.created_at}"))
    variables = "".join(f"{name}:{value};" for name, value in css_variables("light").items())
    return (
        (
            f'<!doctype html>\n<html lang="{"zh" if translate.language == "zh" else "en"}">\n<head>\n'
            f'<meta charset="utf-8">\n<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
            '<meta name="viewport" content="width=device-width">\n'
            '<meta name="referrer" content="no-referrer">\n'
            f"<title>{title}</title>\n<style>\n:root{{{variables}}}\n{_sheet()}</style>\n</head>\n"
            f'<body>\n<main id="items">\n<h1>{title}</h1>\n<p class="dim">{facts}</p>\n'
            + "\n".join(rows)
            + "\n</main>\n</body>\n</html>\n"
        )
        .encode("utf-8", "replace")
        .decode()
    )


@cache
def _sheet() -> str:
    """The page's, without its faces: they are files, and the reader's own do."""
    page = _FACE.sub("", (_WEB / "conversation.css").read_text("utf-8"))
    return page + (_WEB / "document.css").read_text("utf-8")


class PrintedItems(HtmlItems):
    """Rows in which nothing can be clicked but links to the web, and everything is unfolded."""

    def _node(self, node: b.Node) -> str:  # noqa: PLR0911 - one a kind of node
        match node:
            case b.Button():
                return self._pressed(node)
            case b.Buttons():
                inside = "".join(map(self._node, node.buttons))
                return f'<div class="{node.kind}">{inside}</div>' if inside else ""
            case b.Place():
                where = f"{node.path}:{node.line}" if node.line else node.path
                return f'<span class="file">{html.escape(where)}</span>'
            case b.Bar():
                share = abs(node.fill) * (200 if node.fill >= 0 else 100) / 3
                return f'<i class="{"right" if node.fill >= 0 else "left"}" style="width:{share:.1f}%"></i>'
            case b.Countdown() | b.Spinner():
                return ""
            case b.Fold():
                return super()._node(replace(node, is_open=True))
            case b.Diff():
                return super()._node(
                    b.Diff(tuple(replace(row, place="") for row in node.rows), len(node.rows))
                )
            case b.Frame() if node.kind == "tools":
                return ""
            case _:
                return super()._node(node)

    def _pressed(self, button: b.Button) -> str:
        """Of what could be done only what was, and the words of links."""
        label = html.escape(self._say(button.label))
        if button.kind == "name":
            return label
        return f'<span class="chip">✓ {label}</span>' if button.is_chosen else ""

    def _attachments(self, node: b.AttachedFiles) -> str:
        shown = []
        for each in node.files:
            picture = f'<img alt="" src="{html.escape(each.address)}"> ' if each.address else ""
            shown.append(f"<li>{picture}{html.escape(f'{each.name} {each.facts}')}</li>")
        return f'<ul class="notes">{"".join(shown)}</ul>' if shown else ""
