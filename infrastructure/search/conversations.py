"""The words of a project's conversations, and where they stand.

``conversation_search.sqlite`` has what the user and the model said, as the transcripts have it now, and
FTS5's groups of three characters over it. It is a cache: a transcript whose file changed is read anew, and
of its messages those that changed are put in again.
"""

from __future__ import annotations

import logging
import os
import sqlite3
import stat
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from application.ports.search import ConversationHit, ConversationsFound
from domain.llm.transcript import branch_of, entries_of, is_ulid, role_of, text_of
from domain.search.query import fold, quoted_words
from infrastructure.persistence.confined import entries_in, read_regular_file
from infrastructure.persistence.sessions import MAX_TRANSCRIPT_BYTES
from infrastructure.persistence.transcript_lines import read_lines
from infrastructure.search.database import CONVERSATIONS, UnusableError, opened, path_of, transaction
from infrastructure.search.finding import like, phrase_of
from infrastructure.search.indexing import grams_text, storable
from infrastructure.search.walking import storable_time
from shared.paths import CONVERSATIONS_FOLDER, PROJECT_FOLDER, TRANSCRIPT_SUFFIX

_logger = logging.getLogger(__name__)

_LONGEST_TEXT = 200_000
"""Characters of a message that are searched."""
_SENTENCE = 160
"""Characters around a hit."""
_HITS_EACH = 3
_NUMBERS_EACH = 24
"""Bits of a message's number that count within its transcript; those above are the transcript's."""

_State = tuple[int, int, int, int]
_Text = tuple[str, str, str]
"""Id of the message, role, text."""


@dataclass(frozen=True, slots=True)
class SqliteConversationIndex:
    """Implements application.ports.search.ConversationIndex.

    Where there can be no database (a read-only project) the transcripts are read one by one.
    """

    root: Path

    def update(self, limit_s: float) -> int:
        """Bring the index up to date; returns how many transcripts are left to be read."""
        end = time.monotonic() + limit_s
        try:
            with opened(self.root, CONVERSATIONS) as connection:
                return _update(connection, self._folder, end)
        except (UnusableError, sqlite3.Error) as error:
            _logger.info("conversations of %s are searched without an index: %s", self.root, error)
            return 0

    def find(self, text: str, most: int, limit_s: float) -> ConversationsFound:
        """Conversations with messages that have all words, the last changed first."""
        wanted = quoted_words(text)
        if not wanted:
            return ConversationsFound()
        end = time.monotonic() + limit_s
        try:
            with opened(self.root, CONVERSATIONS) as connection:
                return ConversationsFound(hits=_find(connection, wanted, most))
        except (UnusableError, sqlite3.Error) as error:
            _logger.info("conversations of %s are searched without an index: %s", self.root, error)
            return _read_through(self._folder, wanted, most, end)

    def forget(self, session_id: str) -> None:
        """Remove what was said in a conversation that is deleted."""
        if not path_of(self.root, CONVERSATIONS).exists():
            return
        try:
            with opened(self.root, CONVERSATIONS) as connection:
                with transaction(connection):
                    _forget(connection, session_id)
                connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        except (UnusableError, sqlite3.Error) as error:
            _logger.warning("%s is still in the search of conversations: %s", session_id, error)

    @property
    def _folder(self) -> Path:
        return self.root / PROJECT_FOLDER / CONVERSATIONS_FOLDER


# --- keeping it -------------------------------------------------------------------------------------


def _update(connection: sqlite3.Connection, folder: Path, end: float) -> int:
    there = _states(folder)
    known = {
        row[0]: tuple(row[1:])
        for row in connection.execute("SELECT id, size, mtime, ctime, inode FROM transcripts")
    }
    gone = known.keys() - there.keys()
    if gone:
        with transaction(connection):
            for session_id in gone:
                _forget(connection, session_id)
    changed = [session_id for session_id, state in there.items() if known.get(session_id) != state]
    changed.sort(key=lambda session_id: there[session_id][1], reverse=True)
    for done, session_id in enumerate(changed):
        if time.monotonic() >= end:
            return len(changed) - done
        with transaction(connection):
            _take_in(connection, session_id, there[session_id], _texts_of(folder, session_id))
    return 0


def _take_in(connection: sqlite3.Connection, session_id: str, state: _State, texts: Iterator[_Text]) -> None:
    transcript = connection.execute(
        "INSERT INTO transcripts (id, size, mtime, ctime, inode) VALUES (?, ?, ?, ?, ?)"
        " ON CONFLICT (id) DO UPDATE SET size = excluded.size, mtime = excluded.mtime,"
        " ctime = excluded.ctime, inode = excluded.inode RETURNING number",
        (session_id, *state),
    ).fetchone()[0]
    select = "SELECT id, role, text, number FROM messages WHERE number BETWEEN ? AND ?"
    numbers = _numbers_of(transcript)
    known: dict[_Text, int] = {(i, r, t): n for i, r, t, n in connection.execute(select, numbers)}
    newest = max(known.values(), default=numbers[0])
    for text in texts:
        if known.pop(text, None) is None:
            newest += 1
            _put_in(connection, newest, text)
    _take_out(connection, [(number, text) for (_, _, text), number in known.items()])


def _numbers_of(transcript: int) -> tuple[int, int]:
    """The first and the last number that a transcript's messages may have."""
    return transcript << _NUMBERS_EACH, ((transcript + 1) << _NUMBERS_EACH) - 1


def _put_in(connection: sqlite3.Connection, number: int, said: _Text) -> None:
    connection.execute("INSERT INTO messages (number, id, role, text) VALUES (?, ?, ?, ?)", (number, *said))
    connection.execute("INSERT INTO grams (rowid, text) VALUES (?, ?)", (number, grams_text(said[2])))


def _take_out(connection: sqlite3.Connection, rows: Sequence[tuple[int, str]]) -> None:
    """The index of groups has to be told the very text it was given."""
    for number, text in rows:
        delete = "INSERT INTO grams (grams, rowid, text) VALUES ('delete', ?, ?)"
        connection.execute(delete, (number, grams_text(text)))
        connection.execute("DELETE FROM messages WHERE number = ?", (number,))


def _forget(connection: sqlite3.Connection, session_id: str) -> None:
    row = connection.execute("SELECT number FROM transcripts WHERE id = ?", (session_id,)).fetchone()
    if row is not None:
        select = "SELECT number, text FROM messages WHERE number BETWEEN ? AND ?"
        _take_out(connection, connection.execute(select, _numbers_of(row[0])).fetchall())
        connection.execute("DELETE FROM transcripts WHERE number = ?", row)


def _states(folder: Path) -> dict[str, _State]:
    try:
        found = entries_in(folder)
    except OSError:  # none yet, or not to be listed: the list of conversations says so
        return {}
    return {
        session_id: _state_of(state)
        for name, state in found.items()
        if is_ulid(session_id := name.removesuffix(TRANSCRIPT_SUFFIX))
        and name.endswith(TRANSCRIPT_SUFFIX)
        and stat.S_ISREG(state.st_mode)
    }


def _state_of(found: os.stat_result) -> _State:
    mtime, ctime = storable_time(found.st_mtime_ns), storable_time(found.st_ctime_ns)
    return found.st_size, mtime, ctime, found.st_ino


def _texts_of(folder: Path, session_id: str) -> Iterator[_Text]:
    """What the user and the model said; nothing of a transcript that cannot be read."""
    path = folder / (session_id + TRANSCRIPT_SUFFIX)
    try:
        data = read_regular_file(path, max_bytes=MAX_TRANSCRIPT_BYTES)
    except OSError as error:
        _logger.info("%s is not searched: %s", path, error)
        return
    for entry in entries_of(branch_of(read_lines(data, name=path.name).events)):
        role, text = role_of(entry.message), text_of(entry.message)
        message_id = entry.message.get("id")
        if role in ("user", "assistant") and text.strip():
            named = message_id if isinstance(message_id, str) else ""
            yield storable(named), role, storable(text[:_LONGEST_TEXT])


# --- asking it --------------------------------------------------------------------------------------


def _find(connection: sqlite3.Connection, wanted: Sequence[str], most: int) -> tuple[ConversationHit, ...]:
    """One conversation after the other, the last changed first, until there are enough.

    A word may be in every message of all of them. No message is looked at for it, but for words too short for
    the groups.
    """
    phrases = [phrase for word in wanted if (phrase := phrase_of(word)) is not None]
    short = [like(word) for word in wanted if phrase_of(word) is None]
    key = "grams.rowid" if phrases else "number"
    table = "grams JOIN messages ON number = grams.rowid" if phrases and short else "grams"
    conditions = ["grams MATCH ?"] * bool(phrases) + ["messages.text LIKE ? ESCAPE '\\'"] * len(short)
    source = (
        f"FROM {table if phrases else 'messages'} WHERE {' AND '.join(conditions)} AND {key} BETWEEN ? AND ?"
    )
    asked = [*([" AND ".join(phrases)] if phrases else []), *short]
    hits: list[ConversationHit] = []
    newest = connection.execute("SELECT id, number FROM transcripts ORDER BY mtime DESC").fetchall()
    for session_id, transcript in newest:
        place = (*asked, *_numbers_of(transcript))
        found = connection.execute(f"SELECT {key} {source}", place).fetchall()
        if found:  # forwards: a range is read backwards from the end of all of them
            hits += _hits_of(connection, session_id, [number for (number,) in found], wanted)
            most -= 1
        if not most:
            break
    return tuple(hits)


def _hits_of(
    connection: sqlite3.Connection, session_id: str, numbers: Sequence[int], wanted: Sequence[str]
) -> list[ConversationHit]:
    """The newest messages of a conversation that really have the words (LIKE folds ASCII only)."""
    hits: list[ConversationHit] = []
    count = len(numbers)
    for number in reversed(numbers):
        select = "SELECT id, role, text FROM messages WHERE number = ?"
        message_id, role, text = connection.execute(select, (number,)).fetchone()
        if _has_all(text, wanted):
            hits.append(_hit(session_id, (message_id, role, text), wanted, count))
        else:
            count -= 1
        if len(hits) == _HITS_EACH:
            break
    return hits


def _read_through(folder: Path, wanted: Sequence[str], most: int, end: float) -> ConversationsFound:
    hits: list[ConversationHit] = []
    found = 0
    states = sorted(_states(folder).items(), key=lambda item: item[1][1], reverse=True)
    for position, (session_id, _) in enumerate(states):
        if time.monotonic() >= end:
            return ConversationsFound(hits=tuple(hits), pending=len(states) - position)
        having = [said for said in _texts_of(folder, session_id) if _has_all(said[2], wanted)]
        if having:
            hits += [_hit(session_id, said, wanted, len(having)) for said in having[: -_HITS_EACH - 1 : -1]]
            found += 1
        if found == most:
            break
    return ConversationsFound(hits=tuple(hits))


def _has_all(text: str, wanted: Sequence[str]) -> bool:
    folded = fold(text)
    return all(word in folded for word in wanted)


def _hit(session_id: str, said: _Text, wanted: Sequence[str], count: int) -> ConversationHit:
    """The piece of a message around the first of the words.

    Folding may change a text's length (ß); the piece then begins a few letters off.
    """
    message_id, role, text = said
    at = min((place for word in wanted if (place := fold(text).find(word)) >= 0), default=0)
    start = max(at - _SENTENCE // 3, 0)
    if start:
        blank = text.find(" ", start, at)
        start = blank + 1 if blank >= 0 else start
    piece = text[start : start + _SENTENCE]
    sentence = " ".join(piece.split())
    return ConversationHit(
        session_id=session_id,
        message_id=message_id,
        role=role,
        sentence=("… " if start else "") + sentence + (" …" if start + _SENTENCE < len(text) else ""),
        count=count,
    )
