"""What a netlist includes (`.include`, `.lib`), resolved through a confined reader."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol

RefusalReason = Literal["missing", "outside", "not-regular", "folder", "too-large", "unreadable", "url"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceFile:
    """A file the reader handed out."""

    path: Path
    """Real path, links resolved."""
    data: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceRefusal:
    """Why a file was not handed out; never carries content."""

    path: Path
    reason: RefusalReason


class SourceReader(Protocol):
    """Reads files for our parser: only regular files inside the project and listed libraries, links
    resolved, at most 20 MB each."""

    def read(self, reference: str, *, including_file: Path) -> SourceFile | SourceRefusal:
        """The file a directive in `including_file` names (relative to that file's folder first)."""
        ...
