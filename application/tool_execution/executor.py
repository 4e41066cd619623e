"""Runs one tool call: known tool, valid arguments, effect once, a result in any case."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from application.tool_execution.context import ToolCall, ToolContext
    from domain.llm.tools.result import EffectClass, ToolResult


class ToolExecutor:
    """All tools, by name."""

    def schemas(self) -> tuple[dict[str, Any], ...]:
        """The tools in OpenAI's form, for a model."""
        raise NotImplementedError

    @property
    def names(self) -> frozenset[str]:
        """Names of all tools."""
        raise NotImplementedError

    def effect_of(self, name: str) -> EffectClass:
        """The effect class of a tool; "read" for an unknown one (it will only be refused)."""
        raise NotImplementedError

    async def execute(self, call: ToolCall, context: ToolContext) -> ToolResult:
        """Run a call; idempotent by its id. Never raises for what a model or a file did wrong.

        A call whose operation is already done gives its stored result. Only cancellation (the effect
        is then whole or none) and a full disk or a broken database (EnvironmentProblem of the log)
        come out as exceptions.
        """
        raise NotImplementedError

    async def settle(self, call: ToolCall, context: ToolContext, *, reason: str) -> ToolResult:
        """The result of a call that was interrupted: what the log knows, or "not run"; runs nothing.

        `reason` is "stopped" or "interrupted" (the program was killed) and becomes the error_type of
        calls without effect.
        """
        raise NotImplementedError


def result_to_plain(result: ToolResult) -> dict[str, Any]:
    """A result as plain JSON types, messages as template and parameters."""
    raise NotImplementedError


def result_from_plain(plain: dict[str, Any]) -> ToolResult:
    """The result `result_to_plain` wrote."""
    raise NotImplementedError
