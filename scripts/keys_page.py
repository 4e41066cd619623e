"""Writes docs/keys-and-gestures.md from the tables of actions and of a message's commands:
`python -m scripts.keys_page`."""

from __future__ import annotations

from pathlib import Path

from presentation.actions.action import MENUS, SCOPES, Action, Scope
from presentation.actions.gestures import GESTURES, MOUSE
from presentation.actions.table import all_actions
from presentation.panels.conversation.completion import COMMANDS
from presentation.translation import Translator
from presentation.window.menu import panel_actions
from shared.message import Message

PAGE = Path(__file__).resolve().parents[1] / "docs" / "keys-and-gestures.md"
HEAD = """# Keys and gestures

<!-- Written by `python -m scripts.keys_page` from the table in presentation/actions/; do not edit. -->

Every entry of a menu shows its key; *Help > Keyboard shortcuts…* lists them, F1 or ? in a plot shows those of
the plot. A panel's own key comes before the window's. Where two or more keys stand, the others do the same:
desktops and input methods take some keys for themselves. No key is Ctrl+Alt with a letter (AltGr writes with
it), nor Alt with the letter of a menu.
"""


def page() -> str:
    """The whole page."""
    chinese = Translator("zh", "window")
    actions = all_actions(panel_actions())
    parts = [HEAD]
    for scope, title in SCOPES.items():
        rows = [action for action in actions if action.scope == scope and (action.keys or action.also)]
        parts.append(f"\n## {title} ({chinese(title)})\n\n| key | | | menu |\n|---|---|---|---|\n")
        parts += [_row(action, chinese) for action in rows]
        parts += _gestures(scope, chinese)
    parts.append("\n## At the beginning of a message (在消息开头)\n\n| command | | |\n|---|---|---|\n")
    parts += [f"| `/{each.word}` | {each.text} | {chinese(each.text)} |\n" for each in COMMANDS]
    return "".join(parts)


def _row(action: Action, chinese: Translator) -> str:
    keys = " ".join(f"`{key}`" for key in (*action.usual_keys, *action.fixed_keys))
    places = [MENUS[action.menu]] if action.menu is not None else []
    places += [action.submenu] if action.submenu is not None else []
    place = " > ".join(map(str, places))
    return f"| {keys} | {_plain(action.title)} | {_plain(action.title, chinese)} | {place} |\n"


def _gestures(scope: Scope, chinese: Translator) -> list[str]:
    return [
        f"| {' + '.join(str(MOUSE.get(part, part)) for part in done)} | {text} | {chinese(text)} | |\n"
        for done, text in GESTURES.get(scope, ())
    ]


def _plain(title: Message, language: Translator | None = None) -> str:
    return (str(title) if language is None else language(title)).rstrip("…")


if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8")
