"""The stored conversations of a project: list, show, export, rename, delete.

Works on the transcripts' plain JSON, without LangChain, so that the command starts at once.
"""

from __future__ import annotations

import asyncio
import logging
import os
import re
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from application.conversation.goals_shown import GoalsNow, goals_event, last_message
from application.conversation.shown_session import ShownSession, shown, uses_in
from application.conversation.turn_deps import ConversationsAtWork
from domain.llm.costs import AnswerUse, Spent, WorkTotal, total_of, work_of
from domain.llm.service import Alternatives
from domain.llm.transcript import (
    Branches,
    Json,
    branched,
    chat_thread,
    has_open_turn,
    is_ulid,
    messages_of,
    no_session,
)
from domain.settings import REMOVED_DAYS
from shared import paths
from shared.errors import CircuitAIError, UserInputError
from shared.message import Message, msg
from shared.uninterrupted import off_loop, uninterrupted

if TYPE_CHECKING:
    from application.ports.conversation import SessionInfo, SessionStore
    from application.ports.project import ProjectFiles, Projects
    from application.ports.project_view import ProjectView
    from application.ports.search import ConversationIndex

_log = logging.getLogger(__name__)

TextFormat = Literal["json", "txt", "md"]
ExportFormat = TextFormat | Literal["html"]

LAST = "last"
"""In place of an id: the conversation changed last."""
SHORTEST_PREFIX = 6
TAKE_OVER_S = 15.0
"""A stop takes 6 s at most, a program that does not answer to it forever."""
LONGEST_NAME = 120
"""Characters."""
_PREFIX = re.compile(r"[0-9A-HJKMNP-TV-Z]+")
_ULID_LENGTH = 26


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Sessions:
    """Use cases over the stored conversations; `write_file` puts a file on the disk, whole or not at all,
    `read_file` gives the bytes of one, None of one that is larger than so many."""

    projects: Projects
    write_file: Callable[[Path, bytes], None]
    read_file: Callable[[Path, int], bytes | None]
    forget_checkpoints: Callable[[Path, str], None]
    """Removes a thread from a project\'s database of checkpoints."""
    index: Callable[[Path], ConversationIndex]
    views: Callable[[Path], ProjectView]
    at_work: ConversationsAtWork = field(default_factory=ConversationsAtWork)
    """Those that runs of this program have open."""
    alternatives: Callable[[], Alternatives] = Alternatives
    """The models the user has set up, of which stored failures may offer one."""
    kept_days: Callable[[], int] = lambda: REMOVED_DAYS
    """How long conversations that were removed can be restored; it may read the user's settings."""

    async def list(self, project: Path) -> tuple[SessionInfo, ...]:
        """All conversations, the last changed first. Raises UserInputError ("no_project")."""

        def work() -> tuple[SessionInfo, ...]:
            with self._store(project) as store:
                return store.list()

        return await asyncio.to_thread(work)

    async def show(
        self, project: Path, reference: str, *, version: str = "", is_removed: bool = False
    ) -> ShownSession:
        """One conversation. `reference`: an id, its first 6 letters or more, or "last"; `version`: as in
        `shown`; `is_removed`: one of those that were removed.

        Raises UserInputError ("no_project", "no_session", "bad_session_id", "ambiguous_session").
        """

        def work() -> ShownSession:
            with self._store(project) as found_store:
                store = found_store.removed if is_removed else found_store
                session_id = find_session(store, reference)
                read = store.read(session_id)
                own = self.alternatives().choices
                is_ours = read.is_ours and not is_removed
                found = shown(session_id, read.events, own=own, is_ours=is_ours, version=version)
                return replace(found, is_in_use=read.is_in_use)

        return await asyncio.to_thread(work)

    async def spent(self, project: Path, reference: str) -> tuple[Spent, Spent]:
        """What one conversation took, and all of the project together in the last 24 hours; see `show`."""
        since = (datetime.now(UTC) - timedelta(days=1)).isoformat()

        def work() -> tuple[Spent, Spent]:
            with self._store(project) as store:
                whole = _spent([store.read(find_session(store, reference)).events])
                recent = [info.session_id for info in store.list() if info.updated_at >= since]
                return whole, _spent((store.read(each).events for each in recent), since)

        return await asyncio.to_thread(work)

    async def design_report(self, project: Path, reference: str, *, program: str) -> Json:
        """The designs of one conversation as data (`application.design.report_data`); see `show`.

        `program` is the version that makes it. Raises UserInputError ("no_design") too.
        """
        from application.design.report_data import report_data

        def work() -> Json:
            files = self.projects.open(project)
            try:
                session_id = find_session(files.sessions, reference)
                events = files.sessions.read(session_id).events
                return report_data(session_id, events, files, self.views(files.root), program=program)
            finally:
                files.close()

        return await asyncio.to_thread(work)

    async def find(self, project: Path, reference: str) -> SessionInfo:
        """What the list says of one conversation; see `show`."""

        def work() -> SessionInfo:
            with self._store(project) as store:
                session_id = find_session(store, reference)
                found = [info for info in store.list() if info.session_id == session_id]
                if not found:
                    raise no_session(reference)
                return found[0]

        return await asyncio.to_thread(work)

    async def is_in_use(self, project: Path, session_id: str) -> bool:
        """Whether another process works on one just now. Raises UserInputError ("no_project")."""

        def work() -> bool:
            with self._store(project) as store:
                return store.is_in_use(session_id)

        return await asyncio.to_thread(work)

    async def take_over(self, project: Path, session_id: str) -> None:
        """Have the process that works on one stop its run, which is saved, and wait until it has.

        Raises UserInputError ("no_session"; "session_in_use" when it does not answer within `TAKE_OVER_S`, or
        somebody else asks already).
        """
        gave_up = threading.Event()
        last = time.monotonic() + TAKE_OVER_S

        def work() -> None:
            with self._store(project) as store:
                store.take_over(session_id, give_up=lambda: gave_up.is_set() or time.monotonic() > last)

        await uninterrupted(asyncio.to_thread(work), on_cancel=gave_up.set)

    async def rename(self, project: Path, session_id: str, name: str) -> str:
        """Give one a name; returns it as it is kept, on one line and shortened.

        Raises UserInputError ("bad_name", "no_session", "session_in_use"), EnvironmentProblem.
        """
        kept = " ".join(name.split())[:LONGEST_NAME]
        if not kept:
            raise UserInputError(
                msg("A conversation must have a name."),
                advice=msg("Enter at least one word."),
                error_type="bad_name",
            )

        def work() -> None:
            with self._store(project) as store:
                transcript = store.open(session_id)
                try:
                    transcript.append({"event": "renamed", "name": kept, "by": "user"})
                finally:
                    transcript.close()

        await off_loop(work)
        return kept

    async def keep_goals(self, project: Path, session_id: str, goals: GoalsNow) -> str:
        """Write how goals stand into one ("" = a new one); returns its id.

        Raises UserInputError ("no_session", "session_in_use", "not_adopted"), EnvironmentProblem.
        """

        def work() -> str:
            files = self.projects.open(project, create=True)
            try:
                store = files.sessions
                transcript = store.open(session_id) if session_id else store.create(work_mode="free_work")
                try:
                    after = goals.after or last_message(transcript.events)
                    transcript.append(goals_event(replace(goals, after=after)))
                    return transcript.session_id
                finally:
                    transcript.close()
            finally:
                files.close()

        return await off_loop(work)

    async def keep_goals_of_run(self, project: Path, session_id: str, goals: GoalsNow) -> bool:
        """Write how goals stand into a conversation while a run writes to it; False where none does.

        Raises EnvironmentProblem, UserInputError ("session_too_large").
        """
        root = Path(await asyncio.to_thread(os.path.realpath, project))
        return await self.at_work.write(root, session_id, goals_event(goals))

    async def branch(self, project: Path, session_id: str, *, name: str, at: str = "") -> str:
        """Begin another conversation, called `name`, with all that was said in this one, which stays as it
        is; returns its id. Designs are history there. `at`: up to this message
        (`domain.llm.transcript.branched`).

        Raises UserInputError ("no_session", "session_in_use", "not_adopted", "open_turn", "no_message"),
        EnvironmentProblem.
        """

        def work() -> str:
            with self._store(project) as store:
                transcript = store.open(session_id)
                try:
                    lines = branched(transcript.events, at)
                except LookupError as error:
                    raise UserInputError(
                        msg("This message is not in the conversation any more."),
                        advice=msg("Open the conversation again to see what is in it."),
                        error_type="no_message",
                    ) from error
                finally:
                    transcript.close()
                if has_open_turn(lines):
                    raise UserInputError(
                        msg("The last answer of this conversation was interrupted."),
                        advice=msg("Continue it or generate it again, then branch."),
                        error_type="open_turn",
                    )
                new = store.create(work_mode="free_work", name=name)
                try:
                    new.append({"event": "renamed", "name": name, "by": "auto"}, *lines)
                    return new.session_id
                finally:
                    new.close()

        return await off_loop(work)

    async def delete(self, project: Path, session_id: str, *, for_good: bool = False) -> None:
        """Remove one: it is set aside, with all that belongs to it, and can be restored for `kept_days`.

        `for_good`: nothing of it is kept. Its changes of files can be undone as long as those of others.
        Raises UserInputError ("no_session", "session_in_use"), EnvironmentProblem.
        """

        def work() -> None:
            with self._opened(project) as files:
                if for_good:
                    self._delete_for_good(files, files.sessions, (session_id,))
                else:
                    files.sessions.set_aside(session_id)
                self.index(files.root).forget(session_id)
                self._purge(files)

        await off_loop(work)

    async def removed(self, project: Path) -> tuple[SessionInfo, ...]:
        """Those that can be restored, the last removed first; what was kept its time is gone. See `list`."""

        def work() -> tuple[SessionInfo, ...]:
            with self._opened(project) as files:
                self._purge(files)
                found = files.sessions.removed.list()
                return tuple(sorted(found, key=lambda info: info.stored_at, reverse=True))

        return await off_loop(work)

    async def restore(self, project: Path, session_id: str) -> None:
        """Put one back that was removed. Raises UserInputError ("no_session", "session_exists",
        "session_in_use"), EnvironmentProblem."""

        def work() -> None:
            with self._store(project) as store:
                store.put_back(session_id)

        await off_loop(work)

    async def delete_removed(self, project: Path, session_id: str) -> None:
        """Of one that was removed keep nothing. Raises as `delete`."""

        def work() -> None:
            with self._opened(project) as files:
                self._delete_for_good(files, files.sessions.removed, (session_id,))

        await off_loop(work)

    def _purge(self, files: ProjectFiles) -> None:
        """What was removed long enough ago is deleted; what can't be now waits for the next time."""
        before, store = time.time() - self.kept_days() * 86400, files.sessions.removed
        try:
            old = [info.session_id for info in store.list() if info.stored_at < before]
            self._delete_for_good(files, store, old)
        except CircuitAIError as error:
            _log.warning("Removed conversations could not be deleted: %s", error)

    def _delete_for_good(self, files: ProjectFiles, store: SessionStore, ids: Sequence[str]) -> None:
        for session_id in ids:
            store.delete(session_id)
            for thread in (session_id, chat_thread(session_id)):
                self.forget_checkpoints(files.checkpoints_path, thread)
        if ids:
            files.attachments.sweep(files.named_hashes)

    async def import_file(self, project: Path, file: Path) -> str:
        """Take in a conversation that was exported as JSON; returns its id: a new one where its own is taken.

        It is history to be read, as everything another installation wrote. Raises UserInputError
        ("no_file", "bad_import"), EnvironmentProblem.
        """

        def work() -> str:
            from domain.llm.imported import MOST_BYTES, imported_events

            def refused(reason: Message) -> UserInputError:
                return UserInputError(
                    msg("{path} is not an exported conversation: {reason}.", path=file, reason=reason),
                    advice=msg("Choose a file that was made by exporting a conversation as JSON."),
                    file=file,
                    error_type="bad_import",
                )

            data = self.read_file(file, MOST_BYTES)
            if data is None:
                raise refused(msg("it is larger than {size} MB", size=MOST_BYTES >> 20))
            try:
                session_id, events = imported_events(data)
            except ValueError as error:
                told = error.args[0] if error.args and isinstance(error.args[0], Message) else None
                raise refused(told or msg("it is not readable JSON")) from error
            files = self.projects.open(project, create=True)
            try:
                return files.sessions.add_history(session_id, events)
            finally:
                files.close()

        return await off_loop(work)

    async def save(self, text: str, target: Path) -> Path:
        """Write an exported text; returns the file's absolute path.

        Raises UserInputError for a place in a project's own folder or one that cannot be a file,
        EnvironmentProblem when it cannot be written.
        """

        def work() -> Path:
            path = Path(os.path.abspath(target))  # noqa: PTH100 - a link stays as the user wrote it
            if paths.PROJECT_FOLDER in Path(os.path.realpath(path)).parts:
                raise UserInputError(
                    msg("{path} is inside .circuit_ai, which is reserved for the program.", path=target),
                    advice=msg("Choose a place outside .circuit_ai."),
                    file=target,
                    error_type="bad_path",
                )
            self.write_file(path, text.encode("utf-8", "replace"))
            return path

        return await off_loop(work)

    @contextmanager
    def _opened(self, project: Path) -> Iterator[ProjectFiles]:
        files = self.projects.open(project)
        try:
            yield files
        finally:
            files.close()

    @contextmanager
    def _store(self, project: Path) -> Iterator[SessionStore]:
        with self._opened(project) as files:
            yield files.sessions


def _spent(transcripts: Iterable[Sequence[Json]], since: str = "") -> Spent:
    """Of all versions of what was said; what several conversations begin with was paid for once."""
    uses: dict[str, AnswerUse] = {}
    work = WorkTotal()
    known: set[str] = set()
    """Ids of messages, and of their turns, that are counted."""
    for events in transcripts:
        branches = Branches.of(events)
        uses = {key: use for key, use in uses_in(branches).items() if use.created >= since} | uses
        paths = (*branches.paths, branches.events)
        messages = {str(message.get("id")): message for path in paths for message in messages_of(path)}
        own = [message for key, message in messages.items() if key not in known]
        turns = [event for event in events if str(event.get("turn_id")) not in known]
        work += work_of(turns, own, since)
        known |= {key for key in messages if is_ulid(key)}
    return Spent(answers=total_of(tuple(uses.values())), work=work)


def find_session(store: SessionStore, reference: str) -> str:
    """The id that `reference` means: an id, its first 6 letters or more if only one begins so, "last"."""
    if reference == LAST:
        infos = store.list()
        if not infos:
            raise UserInputError(msg("This project has no conversations yet."), error_type="no_session")
        return infos[0].session_id
    prefix = reference.upper()
    if is_ulid(prefix):
        return prefix
    if not SHORTEST_PREFIX <= len(prefix) < _ULID_LENGTH or not _PREFIX.fullmatch(prefix):
        raise UserInputError(
            msg("{text} is not a conversation id.", text=repr(reference)),
            advice=msg('Give an id, its first letters (6 or more), or "last"; `sessions list` shows them.'),
            error_type="bad_session_id",
        )
    found = [info.session_id for info in store.list() if info.session_id.startswith(prefix)]
    if not found:
        raise no_session(reference)
    if len(found) > 1:
        raise UserInputError(
            msg("Several conversations begin with {prefix}: {ids}.", prefix=prefix, ids=", ".join(found[:5])),
            advice=msg("Give more letters of the id."),
            error_type="ambiguous_session",
        )
    return found[0]
