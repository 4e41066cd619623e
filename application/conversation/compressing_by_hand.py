"""Compressing a conversation when the user says so: previewed, done, restored, or carried into a new one."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from langchain_core.messages import AIMessage, HumanMessage

from application.conversation.compressing import Draft, plan_of, with_summary
from domain.llm.chat import ProviderChoice, room_of
from domain.llm.compression import compression_event, restored_event
from domain.llm.messages import now
from shared.errors import UserInputError
from shared.message import msg
from shared.ulid import new_ulid

if TYPE_CHECKING:
    from application.conversation.chatting import ChatWithModel
    from application.conversation.turn_parts import TurnParts

FEWEST_KEPT, USUALLY_KEPT, MOST_KEPT = 5, 10, 20
"""Newest messages that stay whole when the user compresses."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CompressionPreview:
    """What compressing would do."""

    draft: Draft
    window: int
    messages_now: int
    """Of all kinds, results included."""
    messages_shown: int
    """Of user and assistant."""
    tokens_now: int
    """Of the conversation's messages as they are sent now."""

    @property
    def tokens_then(self) -> int:
        return self.draft.compression.tokens_after + self.draft.plan.tokens_kept


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CompressConversation:
    """The use cases behind the dialog and `sessions compress`: nothing of them while a run is under way."""

    chat: ChatWithModel

    async def preview(
        self,
        root: Path,
        session_id: str,
        choice: ProviderChoice,
        *,
        keep: int = USUALLY_KEPT,
        pinned: Sequence[str] = (),
        asks_model: bool = False,
    ) -> CompressionPreview:
        """What compressing all but the newest `keep` messages would do; `asks_model` for its summary.

        Raises UserInputError ("nothing_to_compress", "no_session", "session_in_use", "not_adopted").
        """
        async with self.chat.opened(root, session_id, choice) as parts:
            return await _previewed(parts, choice, keep=keep, pinned=pinned, asks_model=asks_model)

    async def __call__(
        self,
        root: Path,
        session_id: str,
        choice: ProviderChoice,
        *,
        keep: int = USUALLY_KEPT,
        pinned: Sequence[str] = (),
        prepared: CompressionPreview | None = None,
    ) -> CompressionPreview:
        """Compress, and tell what was done; `prepared` is a preview of the same whose summary is taken.

        Raises as `preview`; "conversation_changed" where `prepared` is of another state.
        """
        async with self.chat.opened(root, session_id, choice) as parts:
            if prepared is None:
                prepared = await _previewed(parts, choice, keep=keep, pinned=pinned, asks_model=True)
            elif len(parts.record.messages) != prepared.messages_now:
                raise UserInputError(
                    msg("The conversation has changed since the preview."),
                    advice=msg("Make the preview again."),
                    error_type="conversation_changed",
                )
            done = await parts.compressing.keep(prepared.draft)
            return replace(prepared, draft=replace(prepared.draft, compression=done))

    async def restore(self, root: Path, session_id: str, compression_id: str = "") -> None:
        """Take a compression back ("" = the newest): its messages are sent again as far as they fit.

        Nothing is compressed by itself in this conversation until the user compresses again. Raises
        UserInputError ("no_compression").
        """
        async with self.chat.opened(root, session_id, ProviderChoice()) as parts:
            own = [one for one in parts.record.compressions.standing if one.until]
            wanted = [one for one in own if compression_id in ("", one.compression_id)]
            if not wanted:
                raise UserInputError(
                    msg("There is no such compression in this conversation."),
                    advice=msg("It may have been undone already."),
                    error_type="no_compression",
                )
            await parts.conversation.write(restored_event(wanted[-1].compression_id, now()))

    async def carry_over(self, root: Path, session_id: str, choice: ProviderChoice, *, name: str) -> str:
        """Begin a new conversation, called `name`, with the summary of this one; returns its id.

        The goals need not be carried: they are the circuits', and go with every message. Raises as `preview`.
        """
        async with self.chat.opened(root, session_id, choice) as parts:
            room = room_of(await self.chat.deps.models.abilities(choice))
            plan = await asyncio.to_thread(plan_of, parts.conversation, parts.record.messages, room)
            standing = parts.record.compressions.standing
            if plan is None and not standing:
                raise _nothing()
            if plan is None:  # all of it is summarized already
                carried = replace(standing[-1], until="", origin=parts.record.session_id)
            else:
                draft = replace(await parts.compressing.by_rules(plan, room), is_carried=True)
                draft = await asyncio.to_thread(with_summary, draft, draft.compression.summary, room)
                made = (await parts.compressing.by_model(draft, room)).compression
                carried = replace(made, until="", origin=parts.record.session_id, created=now())
            earlier = [one.text for one in standing if not one.until and one is not carried]
            text = "\n\n".join([*earlier, carried.text])
            event = compression_event(replace(carried, compression_id=new_ulid(), text=text))
            sessions = parts.project.sessions

            def begin() -> str:
                transcript = sessions.create(work_mode="free_work", name=name)
                try:
                    transcript.append({"event": "renamed", "name": name, "by": "auto"}, event)
                    return transcript.session_id
                finally:
                    transcript.close()

            return await asyncio.to_thread(begin)


async def _previewed(
    parts: TurnParts, choice: ProviderChoice, *, keep: int, pinned: Sequence[str], asks_model: bool
) -> CompressionPreview:
    room = room_of(await parts.deps.models.abilities(choice))
    messages = parts.record.messages
    plan = await asyncio.to_thread(plan_of, parts.conversation, messages, room, keep_messages=keep)
    if plan is None:
        raise _nothing()
    draft = await parts.compressing.by_rules(plan, room, pinned=pinned)
    if asks_model:
        draft = await parts.compressing.by_model(draft, room)
    return CompressionPreview(
        draft=draft,
        window=room.window,
        messages_now=len(messages),
        messages_shown=sum(isinstance(one, HumanMessage | AIMessage) for one in messages),
        tokens_now=plan.tokens_before + plan.tokens_kept,
    )


def _nothing() -> UserInputError:
    return UserInputError(
        msg("This conversation has no older messages to summarize."),
        advice=msg("The newest messages always stay; keep fewer of them."),
        error_type="nothing_to_compress",
    )
