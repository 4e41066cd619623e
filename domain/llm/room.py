"""What follows from the size of a model's context window: the tools it is shown, the room of results."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from domain.llm.tools.result import ResultRoom

if TYPE_CHECKING:
    from domain.llm.chat import ModelAbilities
    from domain.llm.prompts.catalogue import Wording

ToolSet = Literal["all", "core", "none"]

LEAST_FOR_TOOLS = 6_000
"""Tokens of a window below which no turn with tools comes to an end."""
RECOMMENDED_WINDOW = 8_192
LEAST_FOR_ALL_TOOLS = 32_000
ASSUMED_WINDOW = 65_536
"""Of a model of whose window nothing is known."""
_ESTIMATE = 0.92
"""Our count of tokens is within 8 % of a model's own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRoom:
    """How much a model takes in at once."""

    window: int = ASSUMED_WINDOW
    """Tokens of request and answer together."""
    is_prompted: bool = False
    """It has no calling of its own: the tools stand in the system message."""
    can_call: bool = True
    """False: it can't call tools in any form."""

    @property
    def tool_set(self) -> ToolSet:
        """The tools it is shown."""
        if self.window < LEAST_FOR_TOOLS or not self.can_call:
            return "none"
        return "core" if self.is_prompted or self.window < LEAST_FOR_ALL_TOOLS else "all"

    @property
    def wording(self) -> Wording:
        """How the texts of its system message are worded."""
        if self.tool_set == "none":
            return "no_tools"
        return "small" if self.tool_set == "core" else "full"

    @property
    def request_tokens(self) -> int:
        """Most tokens of a request, by our count; the rest is for the answer."""
        answer = min(max(self.window // 8, 700), 8_000)
        return int((self.window - answer) * _ESTIMATE)

    @property
    def result(self) -> ResultRoom:
        """Most of one result."""
        tokens = min(max(self.window // 8, 600), 24_000)
        return ResultRoom(tokens=tokens, characters=3 * tokens)

    @property
    def old_result(self) -> int:
        """Most characters of a result, or of a long argument, of an earlier turn."""
        return min(max(self.window // 16, 300), 8_000)


def room_of(abilities: ModelAbilities) -> ModelRoom:
    """The room of a model, as far as it is known."""
    return ModelRoom(
        window=abilities.context_tokens or ASSUMED_WINDOW,
        is_prompted=abilities.tools == "prompted",
        can_call=abilities.tools != "no",
    )
