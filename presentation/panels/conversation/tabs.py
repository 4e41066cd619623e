"""The conversations side by side: a view model each, one of them in front."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Coroutine, Mapping, Sequence
from dataclasses import replace
from itertools import zip_longest
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from application.project.window_state import ConversationTab, DraftGaps
from domain.llm.chat import ProviderChoice, WebSearchChoice
from domain.llm.provider_settings import BUILTIN, ModelSettings
from presentation.panels.conversation.items import END, ScrollPlace
from presentation.panels.conversation.pending import Place
from presentation.panels.conversation.shelf import Shelf
from presentation.panels.conversation.shown_conversation import Mode
from presentation.panels.conversation.stored import title_of
from presentation.panels.conversation.view_model import ConversationViewModel
from shared.errors import CircuitAIError
from shared.message import Message, msg

if TYPE_CHECKING:
    from application.app import Application
    from application.ports.conversation import SessionInfo

MakeTab = Callable[[Shelf, Path | None], ConversationViewModel]


class _Left(NamedTuple):
    """The tabs of a project as they were left."""

    tabs: tuple[ConversationTab, ...] = ()
    front: int = 0
    places: tuple[Place, ...] = ()
    """Where the shelf has what was written in each; () at an earlier start of the program."""


class ConversationTabs:
    """All of a window, in their order; there is always one.

    `make` makes a tab; `leave` keeps the scroll place of the one in front. `front_changed` is called when
    another one is in front, `changed` when the row is another, `listed` when the stored conversations are;
    `told` says what belongs to no conversation.
    """

    def __init__(
        self,
        app: Application,
        make: MakeTab,
        *,
        start: Callable[[Coroutine[Any, Any, object]], object],
        leave: Callable[[ConversationViewModel], None],
        front_changed: Callable[[], None],
        changed: Callable[[], None],
        listed: Callable[[], None],
        told: Callable[[Message, bool], None],
    ) -> None:
        self._app = app
        self._make = make
        self._start = start
        self._leave = leave
        self._front_changed = front_changed
        self._changed = changed
        self._told = told
        self.shelf = Shelf(
            app.conversations,
            app.project,
            app.simulation,
            told=told,
            changed=lambda: None if self._is_closed else listed(),
        )
        self.root: Path | None = None
        self.begins_as: Mode = "free"
        """The mode of the first conversation of a project that is opened."""
        self._is_closed = False
        self._before: dict[Path, _Left] = {}
        """Of projects that are to be opened, by this window or at an earlier start."""
        self._told_of: set[str] = set()
        """Conversations of which was said that others write to them."""
        self.front = make(self.shelf, None)
        self.all: tuple[ConversationViewModel, ...] = (self.front,)
        self.behind: tuple[ConversationViewModel, ...] = ()
        """Closed while they ran: they go on, come back when they need their user, and end by themselves."""

    def close(self) -> None:
        """The window ends."""
        self._is_closed = True
        self._close_all()

    def _close_all(self) -> None:
        for tab in (*self.all, *self.behind):
            tab.close()

    # --- of a project --------------------------------------------------------------------------------

    def set_project(self, root: Path | None) -> None:
        """Another project, or none: nothing of the one before is shown, its own tabs are."""
        if root == self.root or self._is_closed:
            return
        self._leave_project()
        self.root = root
        self.shelf.leave()
        self._told_of.clear()
        self.front = self._make(self.shelf, root)
        left = self._before.get(root, _Left()) if root is not None else _Left()
        self.front.mode = left.tabs[left.front].mode if left.front < len(left.tabs) else self.begins_as
        self.all, self.behind = (self.front,), ()
        self._front_changed()
        if root is not None:
            self._start(self._open_project(root, self.front))

    def _leave_project(self) -> None:
        """What was not sent comes back with its tab when the project is opened again."""
        left = None if self.root is None or self.is_bringing_back else _Left(*self.memory())
        self._close_all()
        if self.root is not None and left is not None:
            self._before[self.root] = left._replace(places=tuple(tab.place for tab in self.all))
        for tab in self.behind if left is not None else (*self.all, *self.behind):
            self._keep_unbegun(tab)

    def bring_back(
        self,
        root: Path,
        tabs: Sequence[ConversationTab],
        front: int,
        drafts: Mapping[str, str],
        gaps: Mapping[str, DraftGaps] = MappingProxyType({}),
    ) -> None:
        """What was there at an earlier start; called before the project is opened."""
        for session, text in drafts.items():
            self.shelf.put_draft((root, session), text, gaps.get(session, DraftGaps()).gaps)
        self._before.setdefault(root, _Left(tuple(tabs), front))  # what this window left itself is newer

    @property
    def is_bringing_back(self) -> bool:
        """Whether the tabs of an earlier start are still to come: the project's list is being read."""
        return self.root in self._before

    def memory(self) -> tuple[tuple[ConversationTab, ...], int]:
        """The tabs as they are brought back at the next start, and which is in front."""
        if self.root is not None and self.is_bringing_back:
            return self._before[self.root][:2]
        self._leave(self.front)
        kept = [
            ConversationTab(
                conversation=tab.session_id,
                draft="" if tab.session_id else tab.unsent,
                gaps=() if tab.session_id else self.shelf.gaps_in(tab.place, tab.unsent),
                files=tab.pending.paths,
                mode=tab.mode,
                provider=tab.choice.provider,
                model=tab.choice.model,
                thinking=tab.choice.thinking,
                search=tab.choice.search,
                web_search=None if tab.choice.web_search is None else tab.choice.web_search.is_on,
                reads_only=tab.reads_only,
                first_row=tab.scroll.key,
                above=tab.scroll.above,
            )
            for tab in self.all
        ]
        return tuple(kept), self.all.index(self.front)

    def at_work_beside(self, tab: ConversationViewModel) -> tuple[str, ...]:
        """Names of the others that run with a model of the same service."""
        service = (tab.choice.provider, tab.choice.base_url)
        others = (each for each in (*self.all, *self.behind) if each is not tab and each.is_running)
        return tuple(each.name for each in others if (each.choice.provider, each.choice.base_url) == service)

    def drafts(self) -> dict[str, str]:
        """Of the project's stored conversations, and at "" of tabs closed before they were begun."""
        tabs = (*self.all, *self.behind)
        left = _Left() if self.root is None else self._before.get(self.root, _Left())
        coming = (place for tab, place in zip(left.tabs, left.places, strict=False) if not tab.conversation)
        open_tabs = {*coming, *(tab.place for tab in tabs)}
        found = {
            session: text
            for (root, session), text in self.shelf.drafts.items()
            if root == self.root and text and (root, session) not in open_tabs
        }
        # One out of sight that could not write yet what was said is no tab of the next start.
        unbegun = (tab.unsent for tab in self.behind if not tab.session_id)
        if text := "\n".join(filter(None, (found.get("", ""), *unbegun))):
            found[""] = text
        return found | {tab.session_id: tab.unsent for tab in tabs if tab.session_id and tab.unsent}

    def gaps(self) -> dict[str, DraftGaps]:
        """What is still to be filled in of the `drafts`."""
        found = {key: self.shelf.gaps_in((self.root, key), text) for key, text in self.drafts().items()}
        return {key: DraftGaps(gaps=gaps) for key, gaps in found.items() if gaps}

    async def _open_project(self, root: Path, first: ConversationViewModel) -> None:
        settings = await asyncio.to_thread(self._app.models.settings.load)
        if not self.shelf.choices and not first.is_running:  # nobody has chosen another one here
            first.take_choice(settings.choice)
            self.shelf.choices.setdefault("", settings.choice)
        infos = {info.session_id: info for info in await self.shelf.relist(root)}
        if self.root != root or self._is_closed:
            return
        before = self._before.pop(root, _Left())
        # What was empty does not come back; nor does a conversation that is gone.
        kept = [
            (tab, place)
            for tab, place in zip_longest(before.tabs, before.places)
            if tab.draft or tab.conversation in infos or (tab.files and not tab.conversation)
        ]
        is_free = self.all == (first,) and first.is_untouched  # nothing was begun in the meantime
        if not kept:
            if infos and is_free:
                newest = next(iter(infos.values()))
                first.mode = _mode_of(newest)
                first.transcript.offer(newest.session_id)
            return
        tabs = tuple(self._made_as(left, place, infos, settings) for left, place in kept)
        if not is_free:
            doubles = [tab for tab in tabs if self.holder(tab.session_id) is not None]
            self.all = (*(tab for tab in tabs if tab not in doubles), *self.all)
            for tab in doubles:
                tab.close()
            self._changed()
            return
        first.close()
        self.all = tabs
        left_of_front = [tab for tab in before.tabs[: before.front] if any(tab is each for each, _ in kept)]
        self.front = tabs[min(len(left_of_front), len(tabs) - 1)]
        self._bring_up()
        for tab in tabs:
            is_behind = tab.transcript.is_unread and tab is not self.front
            if is_behind and infos[tab.session_id].work_mode == "workflow":
                tab.transcript.open(tab.session_id, tab.scroll)  # its design may wait for an answer

    def _made_as(
        self,
        left: ConversationTab,
        place: Place | None,
        infos: Mapping[str, SessionInfo],
        settings: ModelSettings,
    ) -> ConversationViewModel:
        """A tab as it was left; `place`: where the shelf has what was written in it."""
        tab = self._make(self.shelf, self.root)
        tab.choice = _choice_of(left, settings)
        if left.conversation:
            info = infos[left.conversation]
            self.shelf.choices.setdefault(left.conversation, tab.choice)
            tab.mode = _mode_of(info)
            tab.transcript.read_later(left.conversation, title_of(info.name, info.preview))
        else:
            tab.mode = left.mode
            if place is not None:
                self.shelf.move_unsent(place, tab.place)
            else:
                self.shelf.put_draft(tab.place, left.draft, left.gaps)
        if place is None:
            tab.pending.attach_paths(map(Path, left.files))
        tab.reads_only, tab.scroll = left.reads_only, ScrollPlace(left.first_row, left.above)
        return tab

    # --- which is in front ---------------------------------------------------------------------------

    def show(self, tab: ConversationViewModel) -> None:
        if tab in self.behind:
            self.behind = tuple(each for each in self.behind if each is not tab)
            self.all = (*self.all, tab)
        if tab is not self.front and tab in self.all:
            self._leave(self.front)
            self.front = tab
            self._bring_up()

    def _bring_up(self) -> None:
        self.front.come_to_front()
        self._changed()
        self._front_changed()

    def step(self, by: int) -> None:
        """The next one to the right (below 0: left), round and round."""
        self.show(self.all[(self.all.index(self.front) + by) % len(self.all)])

    def holder(self, session_id: str) -> ConversationViewModel | None:
        """The tab that has this conversation."""
        tabs = (*self.all, *self.behind)
        return next((tab for tab in tabs if session_id and tab.session_id == session_id), None)

    def new(self) -> None:
        """An empty conversation in a tab of its own; the one in front where that is empty."""
        tab = self.front if self.front.is_untouched else self._make(self.shelf, self.root)
        self.shelf.move_unsent((self.root, ""), tab.place)  # what a tab was closed with
        if tab is self.front:
            self._front_changed()
            return
        self._put_beside(tab)

    def _put_beside(self, tab: ConversationViewModel) -> None:
        """A new tab at the right of the one in front, and now itself in front."""
        at = self.all.index(self.front) + 1
        self.all = (*self.all[:at], tab, *self.all[at:])
        self.show(tab)

    def open_session(self, session_id: str, place: ScrollPlace = END, *, beside: bool = False) -> None:
        """Show a stored conversation: the tab that has it, or in the one in front; `beside`: in a new one."""
        holder = self.holder(session_id)
        if holder is not None and holder is not self.front:
            holder.scroll = place if place.key else holder.scroll
            self.show(holder)
            return
        if beside and holder is None and not self.front.is_untouched:
            self._put_beside(self._make(self.shelf, self.root))
        self.front.transcript.open(session_id, place)

    def move(self, tab: ConversationViewModel, to: int) -> None:
        others = [each for each in self.all if each is not tab]
        others.insert(to, tab)
        self.all = tuple(others)

    def remove(self, tab: ConversationViewModel, *, goes_on: bool = False) -> None:
        """Close a tab; what was not sent is kept with its conversation. `goes_on`: its run, out of sight."""
        if tab not in self.all:
            return
        at = self.all.index(tab)
        self.all = tuple(each for each in self.all if each is not tab)
        if goes_on and tab.is_running:
            self.behind = (*self.behind, tab)
        else:
            self._end(tab)
        if not self.all:
            self.front = self._make(self.shelf, self.root)
            self.all = (self.front,)
            self._bring_up()
        elif tab is self.front:
            self.front = self.all[min(at, len(self.all) - 1)]
            self._bring_up()
        else:
            self._changed()

    def _end(self, tab: ConversationViewModel) -> None:
        tab.close()
        self._keep_unbegun(tab)

    def _keep_unbegun(self, tab: ConversationViewModel) -> None:
        """What was written in a tab that is closed before it was begun stands in the next new one."""
        if not tab.session_id:
            self.shelf.move_unsent(tab.place, (self.root, ""))

    def look_after(self, tab: ConversationViewModel) -> None:
        """Something of a tab is another: one out of sight comes back when it needs its user, or is over."""
        if tab not in self.behind:
            return
        if tab.is_waiting or not (tab.is_running or tab.queue.is_free):
            self.behind = tuple(each for each in self.behind if each is not tab)
            if tab.is_waiting or tab.has_failed:
                self.all = (*self.all, tab)
            else:
                self._end(tab)
                self._told(msg("“{name}” has ended.", name=tab.name), False)
        self._changed()

    # --- what others write ---------------------------------------------------------------------------

    def follow(self, changed: Collection[str]) -> None:
        """The transcripts of these conversations changed: show what others have written."""
        if self.root is not None:
            self._start(self._follow(self.root, changed))

    async def _follow(self, root: Path, changed: Collection[str]) -> None:
        before = {info.session_id: info.size for info in self.shelf.sessions}
        try:
            infos = {info.session_id: info for info in await self.shelf.relist(root)}
        except CircuitAIError:  # whoever opens the list is told
            return
        if root != self.root or any(tab.is_running and not tab.session_id for tab in self.all):
            return  # one of them may be a tab's that does not know its own yet
        for key in changed:
            tab = self.holder(key)
            if tab is not None and key in infos:
                await tab.transcript.follow(infos[key])
        changed = [key for key in changed if key in infos and infos[key].size != before.get(key)]
        news = [key for key in changed if infos[key].message_count and self.holder(key) is None]
        if news and self.front.is_untouched:
            self.front.transcript.offer(news.pop(0))
        for key in set(news) - self._told_of:
            self._told_of.add(key)
            self._told(_continued(infos[key]), False)


def _mode_of(info: SessionInfo) -> Mode:
    """Until it is read: one that was begun as a design may have been gone on with as a chat."""
    return "workflow" if info.work_mode == "workflow" else "free"


def _choice_of(left: ConversationTab, settings: ModelSettings) -> ProviderChoice:
    """What answered in a tab, as far as it is still set up."""
    if left.provider not in (BUILTIN, *settings.providers):
        return settings.choice
    return replace(
        settings.of(left.provider).choice(left.provider),
        model=left.model,
        thinking=left.thinking,
        search=left.search,
        web_search=None if left.search or left.web_search is None else WebSearchChoice(is_on=left.web_search),
    )


def _continued(info: SessionInfo) -> Message:
    name = title_of(info.name, info.preview)
    return msg("“{name}” was continued outside this window.", name=name)
