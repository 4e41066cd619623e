"""Rows of the Design menu: conversations with a model, and what is set for them."""

from __future__ import annotations

from functools import partial

from presentation.actions.action import Action
from shared.message import msg

_design = partial(Action, menu="design")
_conversation = partial(_design, scope="conversation")

GESTURES = (
    (("double_click",), msg("On a tab: another name")),
    (("drag",), msg("A tab: to another place")),
    (("drag",), msg("Files, from the project tree too: attach them to the message")),
    (("right_click",), msg("Menu of the row, of its code or of a link; the menu key does the same")),
)
DESIGN: tuple[Action, ...] = (
    _design("conversation", msg("Show the conversation"), in_box=False),
    _design("describe_design", msg("Describe a design")),
    _conversation("new_conversation", msg("New conversation"), keys="Ctrl+T"),
    _conversation("close_conversation", msg("Close conversation tab"), keys="Ctrl+W"),
    _conversation("conversation.next_tab", msg("Next conversation"), keys="Ctrl+Tab"),
    _conversation("conversation.previous_tab", msg("Previous conversation"), keys="Ctrl+Shift+Tab"),
    _design("show_history", msg("Earlier conversations…")),
    _design("switchMode", msg("Switch between workflow and free work"), keys="F4"),
    _design("prompts", msg("Prompts…"), begins_part=True),
    _design("modelSettings", msg("Model settings…")),
    _design("embedding", msg("Search by meaning…")),
    _design("permissions", msg("Confirmation rules…")),
)
