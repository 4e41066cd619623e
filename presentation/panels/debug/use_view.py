"""Tokens, cache, money, times and errors: of the newest conversation, the last day, and each provider."""

from __future__ import annotations

from typing import TYPE_CHECKING

from presentation.panels.conversation.stored import title_of
from presentation.panels.debug.tally import EventTally
from presentation.ui.facts import Fact, FactGroup, FactSheet
from presentation.ui.workspace import WindowServices
from presentation.use_words import seconds_of, spent_lines
from shared.errors import CircuitAIError
from shared.message import Message, msg

if TYPE_CHECKING:
    from application.app import Application
    from domain.llm.costs import Spent
    from domain.llm.service import ServiceReport


class UseView(FactSheet):
    """A DebugView."""

    def __init__(self, services: WindowServices, app: Application, _tally: EventTally) -> None:
        super().__init__(services, "debugUse")
        self._app = app
        self._read: object = None
        """Of what state the groups are."""
        self._of_project: tuple[FactGroup, ...] = ()

    async def refresh(self) -> None:
        """Transcripts are read when one of them is another, the providers' counts each time."""
        root, sessions = self._services.workspace.root, self._app.conversations.sessions
        try:
            infos = () if root is None else await sessions.list(root)
            state = root, [(info.session_id, info.size) for info in infos]
            if state != self._read:
                self._of_project = ()
                if root is not None and infos:
                    whole, day = await sessions.spent(root, infos[0].session_id)
                    name = msg("{text}", text=title_of(infos[0].name, infos[0].preview))
                    self._of_project = (
                        _spent(name, whole),
                        _spent(msg("Last 24 hours in this project"), day),
                    )
                self._read = state
        except CircuitAIError as error:
            self._of_project, self._read = (_group(msg("Conversations"), [error.message]),), None
        nothing = _group(msg("Conversations"), [msg("none")])
        providers = map(_service, self._app.models.providers.services())
        self.show_groups((*(self._of_project or (nothing,)), *providers))

    async def examine(self) -> None:
        self._read = None
        await self.refresh()


def _spent(title: Message, spent: Spent) -> FactGroup:
    return _group(title, list(spent_lines(spent)))


def _group(title: Message, lines: list[Message]) -> FactGroup:
    return FactGroup(
        title=title, facts=tuple(Fact(name=msg("{text}", text=""), value=line) for line in lines)
    )


def _service(report: ServiceReport) -> FactGroup:
    """A provider since the program started."""
    said = [
        msg(
            "{calls} {calls:request|requests}, {failures} failed, {retries} {retries:retry|retries}, "
            "{stopped} stopped",
            calls=report.calls,
            failures=report.failures,
            retries=report.retries,
            stopped=report.stopped,
        )
    ]
    if report.mean_first_piece_s is not None:
        said.append(
            msg("First words after {seconds} on average", seconds=seconds_of(report.mean_first_piece_s))
        )
    if report.errors:
        counts = ", ".join(f"{kind} {count}" for kind, count in sorted(report.errors.items()))
        said.append(msg("Errors: {counts}", counts=counts))
    return _group(msg("{provider} since the start", provider=report.provider), said)
