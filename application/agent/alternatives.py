"""The model that is asked in a turn, and what is tried when it fails before anything of its answer has come.

A smaller context, a request without the pictures of earlier messages, other models of the user.

Beside it a small model, where one is set, names the conversation; else the user's first words do.
"""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, aclosing, contextmanager
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any, cast

from langchain_core.messages import HumanMessage, SystemMessage

from application.graph.runtime import tell
from application.ports.events import AlternativeTaken, AttachmentsLeftOut
from application.search.web_searching import with_search_of
from domain.llm.chat import RECOMMENDED_WINDOW, ModelRoom, ProviderChoice, ProviderError, room_of
from domain.llm.context_block import fence_data
from domain.llm.messages import get_text
from domain.llm.prompts.fallbacks import TITLE_INSTRUCTION
from domain.llm.service import ELSEWHERE, Alternatives
from shared.errors import CircuitAIError
from shared.message import Message, msg

if TYPE_CHECKING:
    from types import TracebackType

    from langchain_core.language_models import BaseChatModel

    from application.agent.attachment_context import Attached, Material
    from application.agent.request import Sent
    from application.ports.conversation import ChatModels
    from domain.llm.conversation_record import ConversationRecord

_logger = logging.getLogger(__name__)

_SMALLER = 0.5
"""Of what can be left out so much is sent then ..."""
_MOST_SHRINKS = 3
"""... so often."""
_LEAST_GAIN = 1.02

_POSSIBLY_IMAGE_ERRORS = frozenset(("bad_request", "server_error", "unknown_model", "content_blocked"))
"""How servers answer that can't do anything with pictures, or will not with this one."""


class OtherModels:
    """The models that may take over in one turn, each at most once; closed with the context.

    `may_use` says whether the conversation may be sent there without a question. Without `is_automatic`
    they are only offered.
    """

    def __init__(
        self,
        models: ChatModels,
        choices: Sequence[ProviderChoice],
        *,
        may_use: Callable[[ProviderChoice], Awaitable[bool]],
        is_automatic: bool,
    ) -> None:
        self._models = models
        self._left = list(choices)
        self._may_use = may_use
        self._is_automatic = is_automatic
        self._opened = AsyncExitStack()

    async def __aenter__(self) -> OtherModels:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._opened.aclose()

    async def next(self, error: ProviderError) -> tuple[ProviderChoice, BaseChatModel] | None:
        """The next model that may answer in place of the one that failed; None when there is none."""
        if not self._is_automatic or error.error_type not in ELSEWHERE:
            return None
        while self._left:
            choice = self._left.pop(0)
            try:
                if await self._may_use(choice):
                    return choice, await self._opened.enter_async_context(self._models.open(choice))
                _logger.info("%s was not asked: nothing may be sent there", choice.provider)
            except CircuitAIError as problem:  # no key, an address that is none: the next one, then
                _logger.warning("%s was not asked: %s", choice.provider, problem)
        return None

    def offer(self, error: ProviderError) -> None:
        """Name the models that are left in the advice of an error that they might not have."""
        if self._is_automatic or error.error_type not in ELSEWHERE or not self._left:
            return
        error.offered = tuple(self._left)
        names = ", ".join(named(choice) for choice in self._left)
        if error.advice is None:
            error.advice = msg("Another model you have set up: {names}.", names=names)
        else:
            error.advice = msg(
                "{advice} Another model you have set up: {names}.", advice=error.advice, names=names
            )


class AskedModel:
    """The model that is asked now, and how much of the conversation goes to it."""

    def __init__(
        self,
        model: BaseChatModel,
        choice: ProviderChoice,
        *,
        models: ChatModels,
        others: OtherModels,
        attached: Callable[[], Attached],
    ) -> None:
        self.model = model
        self.choice = choice
        self._models = models
        self._rooms: dict[ProviderChoice, ModelRoom] = {}
        self._is_local: dict[ProviderChoice, bool] = {}
        self.tokens: int | None = None
        """How many tokens the messages may have, once the provider found a request too long."""
        self._shrinks = 0
        self._sent: Sent | None = None
        """What went to the model last."""
        self._told_of_tools: set[ProviderChoice] = set()
        self._told: dict[ProviderChoice, int] = {}
        """How many turns the user was told are left out."""
        self._others = others
        self._attached = attached
        self._has_old_pictures = self._leaves_pictures = False
        """Whether pictures of earlier turns went with the last request; and go with none any more."""
        self._left_out: set[str] = set()
        """Attachments of which the user was told that this model does not get them."""

    @property
    def known_room(self) -> ModelRoom:
        """The room of the model that is asked now, as far as it was looked up."""
        return self._rooms.get(self.choice, ModelRoom())

    async def room(self) -> ModelRoom:
        """How much the model that is asked now takes in, looked up once."""
        if self.choice not in self._rooms:
            try:
                there = await asyncio.to_thread(self._models.destination, self.choice)
                self._is_local[self.choice] = not there
                self._rooms[self.choice] = room_of(await self._models.abilities(self.choice))
            except CircuitAIError as error:  # asking it says why
                _logger.info("The room of %s is not known: %s", self.choice.provider, error)
        return self.known_room

    @property
    def is_local(self) -> bool:
        """Whether the model that is asked now runs on this computer."""
        return self._is_local.get(self.choice, False)

    def tell_of_tools(self, room: ModelRoom) -> None:
        """The user is told once of a model without tools; to the model its system message says it."""
        if room.tool_set == "none" and self.choice not in self._told_of_tools:
            self._told_of_tools.add(self.choice)
            tell(AlternativeTaken(kind="context", text=without_tools_text(self.choice, room)))

    async def found_other_way(self, error: ProviderError) -> bool:
        """Whether the conversation is asked about in another way from now on; told then.

        Where it is not, `error` names the models that might be asked.
        """
        if error.has_begun:
            return False
        if self._has_shortened(error) or self._has_dropped_pictures(error):
            return True
        found = await self._others.next(error)
        if found is None:
            self._others.offer(error)
            return False
        choice, self.model = found
        self.choice, self.tokens, self._shrinks = choice, None, 0
        text = switched_text(error.message, choice)
        tell(AlternativeTaken(kind="model", text=text, provider=choice.provider, model=choice.model))
        return True

    def note_sent(self, sent: Sent) -> None:
        """This goes to the model; the user is told of turns that are left out from now on."""
        self._sent = sent
        if sent.left_out > self._told.get(self.choice, 0) and self.tokens is None:
            text = left_out_text(sent.left_out, self.choice)
            tell(AlternativeTaken(kind="context", text=text, kept=len(sent.messages)))
        self._told[self.choice] = sent.left_out

    def _has_shortened(self, error: ProviderError) -> bool:
        sent = self._sent
        if error.error_type != "context_too_long" or sent is None or self._shrinks >= _MOST_SHRINKS:
            return False
        if sent.tokens <= sent.least * _LEAST_GAIN:
            return False  # one question, which is what it is
        self._shrinks += 1
        self.tokens = sent.least + int((sent.tokens - sent.least) * _SMALLER)
        text = shortened_text(error.message, self.tokens)
        tell(AlternativeTaken(kind="context", text=text, kept=self.tokens))
        return True

    def _has_dropped_pictures(self, error: ProviderError) -> bool:
        if not self._has_old_pictures or error.error_type not in _POSSIBLY_IMAGE_ERRORS:
            return False
        # Else a model that can't see, or a picture that is refused, would end every further turn.
        self._leaves_pictures = True
        words = msg("{reason} (asking again without the pictures of earlier messages)", reason=error.message)
        tell(AttachmentsLeftOut(text=words))
        return True

    async def materials(self, record: ConversationRecord) -> Mapping[str, Material]:
        """What goes with the user's messages; what this model does not get is told once."""
        if not record.has_attachments:
            return {}
        materials = await self._attached().of(
            record.messages,
            running=record.messages_of_turn(),
            choice=self.choice,
            is_short=self.tokens is not None or self._leaves_pictures,
        )
        self._has_old_pictures = materials.sent_again > 0
        if names := self._not_yet_told(materials.unseen):
            text = msg(
                "This model cannot see pictures; earlier ones are only mentioned to it by name: {names}.",
                names=names,
            )
            tell(AttachmentsLeftOut(text=text))
        if names := self._not_yet_told(materials.kept_back):
            text = msg(
                "Listed in .circuitaiignore, so not sent to a model on the network: {names}.", names=names
            )
            tell(AttachmentsLeftOut(text=text))
        return materials.of_message

    def _not_yet_told(self, names: Iterable[str]) -> str:
        """Those names that the user was not told of in this turn."""
        news = [name for name in dict.fromkeys(names) if name not in self._left_out]
        self._left_out.update(news)
        return ", ".join(news)


def is_same(choice: ProviderChoice, asked: ProviderChoice) -> bool:
    """Whether an alternative is what was asked; what was left empty there may be any."""
    pairs = ((choice.model, asked.model), (choice.base_url, asked.base_url))
    return choice.provider == asked.provider and all(not now or now == other for other, now in pairs)


def named(choice: ProviderChoice) -> str:
    """Provider and model, as people write them."""
    return f"{choice.provider} {choice.model}".strip()


def shortened_text(reason: Message, tokens: int) -> Message:
    """What is said when less is sent."""
    return msg("{reason} Retrying with about {count} tokens of it.", reason=reason, count=tokens)


def left_out_text(turns: int, choice: ProviderChoice) -> Message:
    """What is said when earlier turns no longer fit."""
    return msg(
        "The first {count} {count:turn|turns} no longer {count:fits|fit} into the context window of "
        "{model}: of {count:it|them} only your own messages are sent.",
        count=turns,
        model=named(choice),
    )


def without_tools_text(choice: ProviderChoice, room: ModelRoom) -> Message:
    """What is said when a model is asked without tools."""
    if not room.can_call:
        return msg(
            "{model} cannot call tools: it can answer, but not read, change or simulate files. "
            "Choose another model for that.",
            model=named(choice),
        )
    return msg(
        "The context window of {model} has only {window} tokens, too few for tools: it can answer, but not "
        "read, change or simulate files. Choose a model with at least {least} tokens.",
        model=named(choice),
        window=room.window,
        least=RECOMMENDED_WINDOW,
    )


def switched_text(reason: Message, choice: ProviderChoice) -> Message:
    """What is said when another model is asked."""
    return msg("{reason} Switching to {model}.", reason=reason, model=named(choice))


NAME_LENGTH = 40
_TIMEOUT_S = 15.0
_MOST_QUESTION = 1_500
_MOST_ANSWER = 1_500
_THINKING = re.compile(r"<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)", re.DOTALL)
_LABEL = re.compile(r"\A(?:title|标题)\s*[:：]\s*", re.IGNORECASE)
_AROUND = " \t\"'`*#“”‘’「」《》."


@dataclass(frozen=True, slots=True, eq=False)
class TurnModels:
    """Which other models a turn may ask."""

    models: ChatModels
    asked: ProviderChoice
    record: ConversationRecord
    _: KW_ONLY
    small_model: ProviderChoice | None
    """For titles; None = the first words serve."""
    may_ask: Callable[[ProviderChoice], Awaitable[bool]]
    """Whether this conversation may be sent to a model on the network."""
    is_on_network: bool
    is_searching: bool
    """With the general search of the web."""

    def others(self, alternatives: Alternatives) -> OtherModels:
        """The models that may take over, with the search that the turn was begun with."""
        return OtherModels(
            self.models,
            [
                with_search_of(self.asked, choice, is_general=self.is_searching)
                for choice in alternatives.choices
                if not is_same(choice, self.asked)
            ],
            may_use=self.may_go_on_with,
            is_automatic=alternatives.is_automatic,
        )

    async def name(self) -> str:
        """What the conversation is called after its first whole answer."""
        question = self.record.first_words
        title = ""
        if self.small_model is not None and await self._may_ask(self.small_model):
            answer = self.record.answers_of_turn()[-1:]
            title = await title_by(
                self.models,
                self.small_model,
                question=question,
                answer="".join(map(get_text, answer)),
            )
        return title or name_from(question)

    async def may_go_on_with(self, choice: ProviderChoice) -> bool:
        """Whether another model may take over: what is on this computer stays there."""
        destination = await asyncio.to_thread(self.models.destination, choice)
        if destination and not self.is_on_network:
            return False
        return await self._may_ask(choice)

    async def _may_ask(self, choice: ProviderChoice) -> bool:
        """Whether this conversation may be sent there; a title is not worth a question."""
        with log_and_continue("The small model was not asked"):
            return await self.may_ask(choice)
        return False


def name_from(text: str) -> str:
    """A name from somebody's words: the first line, cut to `NAME_LENGTH`."""
    line = next((line.strip() for line in text.splitlines() if line.strip()), "")
    return line if len(line) <= NAME_LENGTH else line[: NAME_LENGTH - 1].rstrip() + "…"


async def title_by(models: ChatModels, choice: ProviderChoice, *, question: str, answer: str) -> str:
    """A title by the small model; "" when it has none to give (it fails, is slow, says nothing).

    What it gets is material: both texts are cut and fenced.
    """
    texts = (("question", question[:_MOST_QUESTION]), ("answer", answer[:_MOST_ANSWER]))
    asked = "\n\n".join(fence_data(name, text) for name, text in texts)
    messages = [SystemMessage(content=TITLE_INSTRUCTION), HumanMessage(content=asked)]
    said: list[str] = []
    try:
        async with (
            asyncio.timeout(_TIMEOUT_S),
            models.open(choice) as model,
            aclosing(cast("Any", model.astream(messages))) as chunks,
        ):
            async for chunk in chunks:
                said.append(get_text(chunk))
    except (ProviderError, CircuitAIError, TimeoutError) as error:
        # The conversation has a name without it; the main model's answer is not to suffer from it.
        _logger.warning("The small model gave no title: %s", error or "it took too long")
        return ""
    return _title_in("".join(said))


def without_thinking(text: str) -> str:
    """A small model's answer without what some servers leave in it of its thoughts."""
    return _THINKING.sub("", text)


def _title_in(text: str) -> str:
    line = name_from(without_thinking(text))
    return _LABEL.sub("", line.strip(_AROUND)).strip(_AROUND)


@contextmanager
def log_and_continue(what: str) -> Iterator[None]:
    """For tidying up: its failure must not hide how the turn ended, and the next start does it again."""
    try:
        yield
    except Exception as error:  # noqa: BLE001 - a full disk, a database that is gone
        _logger.warning("%s: %s", what, error)
