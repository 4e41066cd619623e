"""What a call would do, computed from the files before it is run - never from what a model says about it.

A tool that knows better than its arguments tell gives its `preview` (application.tool_execution.definition);
rules of confirmation (`domain.llm.tools.confirmation`) judge the effect and the user's card shows it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from domain.llm.tools.result import EffectClass

MOST_PATHS_SHOWN = 2000
"""Paths an effect names, more than a tool may touch in one call: rules judge them all, a card shows a few."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PathEffect:
    """What happens to one file or folder."""

    path: str
    """Relative to the project, forward slashes; absolute outside."""
    moved_to: str = ""
    """Where it will be afterwards; "" when it stays."""
    is_folder: bool = False
    bytes_before: int | None = None
    """None: there is nothing yet."""
    bytes_after: int | None = None
    """None: there will be nothing."""
    lines_lost: int = 0
    """Lines only the present content has."""
    lines_added: int = 0
    overwrites: bool = False
    """A whole content that is there is replaced: by a rewrite, or by what is moved onto it."""
    was_read: bool = False
    """The model has seen the content that is there now, in this conversation."""
    version: str = ""
    """Hash of the content that is there now; "" when there is none (or it is a folder)."""
    diff: str = ""
    """Unified diff, may be cut; "" for what has none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ComputedEffect:
    """The effect of one call."""

    effect: EffectClass
    """Of this call: a rewrite that makes a new file is "create", one that replaces it "change"."""
    paths: tuple[PathEffect, ...] = ()
    """At most `MOST_PATHS_SHOWN`, the call's own paths first, then what lies in a folder."""
    files: int = 0
    """How many files are changed, moved or deleted, also those `paths` leaves out."""
    is_high_risk: bool = False
    """It cannot be taken back, or reaches further than the paths tell."""
    sends: str = ""
    """Of class "outside": what leaves the computer, as it is."""
    destination: str = ""
    """Of class "outside": scheme, host and port it goes to."""

    def is_same_as(self, asked: ComputedEffect, written: Collection[tuple[str, str]] = ()) -> bool:
        """Whether a permission for `asked` covers this one: same paths, and nothing else would be lost.

        `written` are (path, version) of what the turn itself has written since: that may be lost too.
        """
        return (
            (self.effect, self.sends, self.destination) == (asked.effect, asked.sends, asked.destination)
            and self.files == asked.files
            and len(self.paths) == len(asked.paths)
            and all(_covers(old, new, written) for old, new in zip(asked.paths, self.paths, strict=True))
        )


def _covers(asked: PathEffect, now: PathEffect, written: Collection[tuple[str, str]]) -> bool:
    return (asked.path, asked.moved_to, asked.overwrites) == (now.path, now.moved_to, now.overwrites) and (
        (asked.version, asked.bytes_before) == (now.version, now.bytes_before)
        or (now.path, now.version) in written
    )


def effect_to_plain(effect: ComputedEffect) -> dict[str, Any]:
    return {**asdict(effect), "paths": [asdict(path) for path in effect.paths]}


def effect_from_plain(plain: Mapping[str, Any]) -> ComputedEffect:
    return ComputedEffect(
        effect=plain["effect"],
        paths=tuple(PathEffect(**path) for path in plain["paths"]),
        files=plain["files"],
        is_high_risk=plain["is_high_risk"],
        sends=plain.get("sends", ""),
        destination=plain.get("destination", ""),
    )
