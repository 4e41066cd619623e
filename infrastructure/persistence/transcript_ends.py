"""How far each conversation of a project was written here, in ``transcript_ends`` of the user's own folder.

Each line of a transcript is signed, but a beginning of it is signed as well: one whose end was cut off, or
that was emptied, looks like one that never had more. So the number of its lines and their last link are noted
where no project can reach. They hold for the folder the project is in: a copy elsewhere may well be an older
one.
"""

from __future__ import annotations

import contextlib
import hashlib
import logging
import os
from dataclasses import dataclass
from pathlib import Path

from infrastructure.persistence import confined
from infrastructure.persistence.authenticity import Authenticity

_log = logging.getLogger(__name__)

FOLDER = "transcript_ends"
_DIGITS = 20
_MAX_BYTES = 4096


@dataclass(frozen=True, slots=True, kw_only=True)
class End:
    """The newest line that was written or adopted here."""

    count: int
    """Lines up to it."""
    link: str
    """Of the chain of signatures up to it."""

    def is_beyond(self, other: End) -> bool:
        """Whether a transcript of ours that ends at `other` lacks lines of one that ended here."""
        return other.count < self.count or (other.count == self.count and other.link != self.link)


class TranscriptEnds:
    """A small file for each conversation. Blocking; whoever notes holds the conversation's lock.

    A note is not flushed: after a power cut an older one tells less, and nothing wrong. Where the user's
    folder can't be written nothing is known; the log says so.
    """

    def __init__(self, signer: Authenticity) -> None:
        self._signer = signer

    def known(self, session_id: str) -> End | None:
        """Where it ended when it was last written here; None when nobody knows. Writes nothing."""
        try:
            data = confined.read_regular_file(self._folder() / session_id, max_bytes=_MAX_BYTES)
            count, link = data.decode("ascii").split()
            return End(count=int(count), link=link)
        except (OSError, ValueError):
            return None

    def note(self, session_id: str, end: End) -> None:
        """It was written up to there."""
        folder = self._folder()
        data = f"{end.count:0{_DIGITS}d} {end.link}\n".encode("ascii")
        try:
            try:
                descriptor = confined.open_file(folder / session_id, os.O_WRONLY | os.O_CREAT, 0o600)
            except FileNotFoundError:
                confined.make_folder(folder)
                descriptor = confined.open_file(folder / session_id, os.O_WRONLY | os.O_CREAT, 0o600)
            with contextlib.closing(os.fdopen(descriptor, "wb", buffering=0)) as file:
                file.write(data)  # always as long: in one piece in the place of the one before
        except OSError as error:
            _log.warning("%s can't be written (%s): that one was cut is not told", folder, error)

    def forget(self, session_id: str) -> None:
        """It was deleted by the user."""
        with contextlib.suppress(OSError):
            confined.unlink(self._folder() / session_id)

    def _folder(self) -> Path:
        place = f"{self._signer.project_id}\n{self._signer.private}"
        name = hashlib.sha256(os.fsencode(place)).hexdigest()[:32]
        return Path(os.path.realpath(self._signer.user_home)) / FOLDER / name
