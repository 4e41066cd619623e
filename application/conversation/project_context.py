"""What a model is told of the project with each message: the data block before the user's newest words.

The collectors run together. One that fails or is slow is left out, and the turn's trace says so.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from application.conversation import collectors as c
from application.conversation.question import Question, question_of
from application.conversation.references import referred
from application.conversation.turn_deps import EditorState
from application.tool_execution.definition import ToolContext
from domain.llm.context_block import USUAL, ContextBlock, ContextPart, ContextShares, PartName, assemble
from shared.uninterrupted import off_loop

if TYPE_CHECKING:
    from application.ports.tracing import Span

_logger = logging.getLogger(__name__)

LIMIT_S = 0.3
"""How long a collector is waited for."""
NEEDED_LIMIT_S = 10.0
"""One without which the model would be told something wrong; they take milliseconds."""
UNRELATED = 1500
"""Tokens of the data for a message in which nothing of the project is named or meant."""
_NOT_READ = ("[what is named with @ could not be read in time: read_file]",)
_OF_THE_MESSAGE: frozenset[PartName] = frozenset({"passages", "references", "selection"})


@dataclass(frozen=True, slots=True)
class Collector:
    """Finds one kind of data."""

    name: str
    collect: Callable[[Question], Awaitable[Sequence[ContextPart]]]
    is_needed: bool = False
    """Cheap, and without it the model would take something wrong for right: it is waited for longer, and
    told to every model."""


COLLECTORS: tuple[Collector, ...] = (
    Collector("project", c.project, is_needed=True),
    Collector("files", c.file_names, is_needed=True),
    Collector("goals", c.goals, is_needed=True),
    Collector("changes", c.changes, is_needed=True),
    Collector("editor", c.editor, is_needed=True),
    Collector("diagnostics", c.diagnostics),
    Collector("figures", c.figures),
    Collector("verdicts", c.verdicts),
    Collector("references", referred),
    Collector("stages", c.stages),
    Collector("circuit", c.circuit),
    Collector("dependencies", c.dependencies),
    Collector("passages", c.passages),
)


async def project_context(
    context: ToolContext,
    words: str,
    *,
    main_circuit: str,
    budget: int,
    editor: EditorState | None = None,
    events: Sequence[Mapping[str, Any]] = (),
    last_answered: str = "",
    is_brief: bool = False,
    span: Span | None = None,
    collectors: Sequence[Collector] = COLLECTORS,
    limit_s: float | None = None,
    shares: ContextShares = USUAL,
) -> ContextBlock:
    """The data for a message of `words`, within `budget` tokens.

    `main_circuit` is the one the user works on, relative to the project; "" when none is known. `events` are
    the conversation's transcript and `last_answered` when the model last answered in an earlier turn.
    `is_brief`: only what has to be told in any case.
    """
    question = await off_loop(
        question_of,
        context,
        words,
        main_circuit=main_circuit,
        editor=editor,
        events=events,
        last_answered=last_answered,
    )
    asked = [each for each in collectors if each.is_needed or not is_brief]
    found = await asyncio.gather(*(_collected(each, question, limit_s or LIMIT_S) for each in asked))
    left_out = [each.name for each, parts in zip(asked, found, strict=True) if parts is None]
    told = [part for parts in found for part in parts or ()]
    if "references" in left_out and question.references:  # what is pointed at is not left out without a word
        told.append(ContextPart(name="references", forms=(_NOT_READ,)))
    is_searched = "passages" not in left_out and "passages" in {each.name for each in asked}
    if is_searched and not any(part.name in _OF_THE_MESSAGE and any(part.forms) for part in told):
        budget = min(budget, UNRELATED)
    block = assemble(told, budget, shares)
    if span is not None:
        span.note(
            context__left_out=",".join(left_out),
            context__cut=",".join(block.cut),
            **{f"context__{name}": tokens for name, tokens in block.tokens_of},
        )
    return block


async def _collected(
    collector: Collector, question: Question, limit_s: float
) -> Sequence[ContextPart] | None:
    """What it found; None when it failed or took too long."""
    try:
        async with asyncio.timeout(max(NEEDED_LIMIT_S, limit_s) if collector.is_needed else limit_s):
            return await collector.collect(question)
    except TimeoutError:
        _logger.info("The collector %s was too slow and is left out", collector.name)
    except Exception:
        _logger.warning("The collector %s failed and is left out", collector.name, exc_info=True)
    return None
