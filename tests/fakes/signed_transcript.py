"""Transcripts with other lines than they were written with, signed as if this installation had."""

from collections.abc import Iterable
from pathlib import Path

from infrastructure.persistence.authenticity import Authenticity
from infrastructure.persistence.transcript_lines import Chain


def sign_lines(path: Path, lines: Iterable[bytes]) -> None:
    """Write `lines` (signed or not, with or without their newline) as the transcript at `path`."""
    reading = Chain(signer=Authenticity.of_user(path.parent.parent), session_id=path.stem)
    bodies = [reading.read(line.rstrip(b"\n")) + b"\n" for line in lines]
    signed, _ = Chain(signer=reading.signer, session_id=path.stem).signed(bodies)
    path.write_bytes(b"".join(signed))
