"""Designers, and what tells of their work."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from application.ports.conversation import Designer
    from application.workflow.journal import Narrate


class DesignAdapters:
    """Implements application.groups.outside.DesignParts."""

    def __init__(self, designers: Mapping[str, Designer] | None) -> None:
        """`designers` take the place of the program's own."""
        self._given_designers = designers

    @cached_property
    def designers(self) -> Mapping[str, Designer]:
        if self._given_designers is not None:
            return self._given_designers
        from infrastructure.llm_adapters.builtin import BuiltinDesigner
        from presentation.translation import Translator

        # The comments of a circuit are in the language of the sentence that asked for it.
        return {"builtin": BuiltinDesigner(speaker=Translator)}

    @property
    def narrators(self) -> Callable[[str], Narrate]:
        from presentation.narration import Narrator

        return Narrator.answering
