"""Names of the project in texts of the conversation: files with lines, signals, figures that goals ask for.

Only what the project has is a name; nothing is guessed. A text costs what it is long, whatever the number of
names: what looks like one is found by its form and then looked up.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

Act = Literal["open", "trace", "measure"]
Link = Callable[[Act, str, str], str]
"""Makes a link: what a click does, with what, and its words, escaped."""

_TAG = re.compile(r'<[^<>"]*(?:"[^"]*"[^<>"]*)*>')
_MATH = '<span class="math'
_NODE = r"[\w.+\-#:$]{1,64}"
_SIGNAL = (
    rf"(?P<kind>vdb|vm|vp|vr|vi|v|i)\(\s{{0,3}}(?P<one>{_NODE})"
    rf"(?:\s{{0,3}},\s{{0,3}}(?P<two>{_NODE}))?\s{{0,3}}\)"
)
_NAME = re.compile(
    rf"(?<![A-Za-z0-9_.@\\/-])"
    rf"(?:{_SIGNAL}|(?P<word>[\w/-]{{1,60}}[._][\w./-]{{0,100}})(?::(?P<line>\d{{1,7}})(?!\d))?)",
    re.IGNORECASE,
)
_TRAILING = ".-/"
_LONGEST = 100_000
"""Characters of one block; a longer one is data, no prose."""
_LEAST_IN_PROSE = re.compile(r"\S+[ _-]\S|[\u4e00-\u9fff]{3}")
"""A figure's label that is a word of everyday language ("gain") is a name in code only."""
_GROUND = frozenset({"0", "gnd"})


@dataclass(frozen=True, slots=True, kw_only=True)
class CircuitNames:
    """What can be drawn or measured of one circuit; all in small letters."""

    nodes: frozenset[str] = frozenset()
    """At its top level."""
    elements: frozenset[str] = frozenset()
    metrics: Mapping[str, str] = field(default_factory=dict)
    """What its goals ask for, by name and by label."""

    def has(self, act: Act, name: str) -> bool:
        """Whether a link of this kind is about this circuit."""
        if act == "measure":
            return name in self.metrics.values()
        parts = name[2:-1].split(",")
        return (self.nodes if name[0] == "v" else self.elements).issuperset(
            part for part in parts if part not in _GROUND
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class Names:
    """Everything that is a name now; hashed by identity, so that what was made with it can be kept."""

    files: frozenset[str] = frozenset()
    """Relative to the project."""
    circuits: Mapping[str, CircuitNames] = field(default_factory=dict)
    """By their files."""

    @cached_property
    def _places(self) -> Mapping[str, str]:
        """Files by what they may be called: their path, or their last part where only one has it."""
        by_name: dict[str, list[str]] = {}
        for path in self.files:
            by_name.setdefault(path.rpartition("/")[2], []).append(path)
        short = {name: paths[0] for name, paths in by_name.items() if len(paths) == 1}
        return {**short, **{path: path for path in self.files}}

    @cached_property
    def _nodes(self) -> frozenset[str]:
        return _GROUND.union(*(circuit.nodes for circuit in self.circuits.values()))

    @cached_property
    def _elements(self) -> frozenset[str]:
        return frozenset().union(*(circuit.elements for circuit in self.circuits.values()))

    @cached_property
    def _metrics(self) -> Mapping[str, str]:
        return {word: name for circuit in self.circuits.values() for word, name in circuit.metrics.items()}

    @cached_property
    def _labels(self) -> re.Pattern[str] | None:
        """Labels of figures that are no words of everyday language."""
        names = (word for word in self._metrics if _LEAST_IN_PROSE.search(word))
        words = sorted(names, key=len, reverse=True)
        if not words:
            return None
        return re.compile(rf"(?<![A-Za-z0-9_])(?:{'|'.join(map(re.escape, words))})(?![A-Za-z0-9_])", re.I)

    def circuit_of(self, act: Act, name: str, wanted: tuple[str, ...]) -> str:
        """Which circuit a link is about: the first of `wanted` that has the name, else the first."""
        known = (path for path in wanted if path in self.circuits and self.circuits[path].has(act, name))
        return next(known, wanted[0] if wanted else "")

    def in_text(self, escaped: str, link: Link) -> str:
        """An escaped text with its names as links."""
        if (not self.files and not self.circuits) or len(escaped) > _LONGEST:
            return escaped

        def put(found: re.Match[str]) -> str:
            return self._signal(found, link) if found["kind"] else self._word(found, link)

        pieces: list[str] = []
        end = 0
        for found in self._labels.finditer(escaped) if self._labels is not None else ():
            pieces.append(_NAME.sub(put, escaped[end : found.start()]))
            metric = self._metrics.get(found[0].casefold())
            pieces.append(found[0] if metric is None else link("measure", metric, found[0]))
            end = found.end()
        return "".join((*pieces, _NAME.sub(put, escaped[end:])))

    def in_html(self, clean: str, link: Link) -> str:
        """The same in cleaned HTML, outside of links, formulas and attributes."""
        if (not self.files and not self.circuits) or len(clean) > _LONGEST:
            return clean
        pieces: list[str] = []
        end, until = 0, ""
        before = ""
        for tag in _TAG.finditer(clean):
            text = clean[end : tag.start()]
            if "<" in text:  # not as the cleaner writes it: nothing is put into what is not understood
                return clean
            if until:
                pieces.append(text)
            elif before == "<code>" and tag[0] == "</code>":
                pieces.append(self._in_code(text, link))
            else:
                pieces.append(self.in_text(text, link) if text else "")
            pieces.append(tag[0])
            end, before = tag.end(), tag[0]
            if until:
                until = "" if tag[0] == until else until
            elif before.startswith("<a "):
                until = "</a>"
            elif before.startswith(_MATH):
                until = "</span>"
        rest = clean[end:]
        return "".join((*pieces, rest if until else self.in_text(rest, link)))

    def _in_code(self, text: str, link: Link) -> str:
        """What stands between backticks may be a name that would be a word elsewhere: ``out``, ``gain``."""
        word = html.unescape(text).strip().casefold()
        if word in self._nodes - _GROUND and not word.isdigit():
            return link("trace", f"v({word})", text)
        if word in self._metrics:
            return link("measure", self._metrics[word], text)
        return self.in_text(text, link)

    def _signal(self, found: re.Match[str], link: Link) -> str:
        names = [name.lower() for name in (found["one"], found["two"]) if name]
        is_current = found["kind"].lower() == "i"
        known = self._elements if is_current else self._nodes
        if not known.issuperset(names) or (is_current and len(names) > 1) or _GROUND.issuperset(names):
            return found[0]
        return link("trace", f"{'i' if is_current else 'v'}({','.join(names)})", found[0])

    def _word(self, found: re.Match[str], link: Link) -> str:
        word = found["word"].rstrip(_TRAILING) if found["line"] is None else found["word"]
        rest = found[0][len(word) :] if found["line"] is None else ""
        for start in _beginnings(word):  # in Chinese no blank stands before a name
            name = word[start:]
            place = self._places.get(name)
            if place is not None:
                shown = found[0][start : len(found[0]) - len(rest)]
                line = found["line"] or "0"
                return found[0][:start] + link("open", f"{place}:{int(line)}", shown) + rest
            metric = self._metrics.get(name.casefold()) if found["line"] is None else None
            if metric is not None:
                return found[0][:start] + link("measure", metric, name) + rest
        return found[0]


def _beginnings(word: str) -> tuple[int, ...]:
    """Where a name may begin in a word: at its start, and behind each letter that is not ASCII."""
    if word.isascii():
        return (0,)
    return (0, *(place + 1 for place, letter in enumerate(word[:-1]) if not letter.isascii()))
