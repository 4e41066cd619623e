"""Markdown of a model to HTML that can do no harm: no scripts, no remote content, no raw HTML.

A text is cut into blocks (paragraphs, lists, fences) that are rendered each on its own, so that a stream
costs the same at its end as at its beginning. Formulas leave as ``<span class="math">`` with their TeX
as text; the page hands them to KaTeX, the plain view and printed conversations to `formulas.py`.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache, lru_cache
from itertools import accumulate
from typing import Literal

import nh3
from markdown import Markdown  # type: ignore[import-untyped]
from markdown.extensions.nl2br import Nl2BrExtension  # type: ignore[import-untyped]
from markdown.extensions.sane_lists import SaneListExtension  # type: ignore[import-untyped]
from markdown.extensions.tables import TableExtension  # type: ignore[import-untyped]

from shared.message import visible

_COMMENT = re.compile(r"(?<!\S)[;$](?=\s|$).*$|(?<=\s);.*$")
_WORD = re.compile(r"\{[^{}]*\}|'[^']*'|\"[^\"]*\"|[^\s,=()]+|[\s,=()]+")
_VALUE = re.compile(r"^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?[a-zµ%]*$", re.I)
_KEYWORDS = frozenset(("dc", "ac", "pulse", "sin", "sine", "pwl", "exp", "sffm", "am", "dec", "oct", "lin"))


def highlighted(netlist: str) -> str:
    """A netlist as HTML with ``<span class="s-...">`` for its parts; the text is escaped."""
    return "\n".join(_line(line) for line in netlist.split("\n"))


def _line(line: str) -> str:
    stripped = line.lstrip()
    if stripped.startswith("*"):
        return _span("comment", line)
    found = _COMMENT.search(line)
    code, comment = (line[: found.start()], line[found.start() :]) if found else (line, "")
    is_directive = stripped.startswith(".")
    parts: list[str] = []
    position = 0
    for word in _WORD.findall(code):
        if word.isspace() or word in ",=()":
            parts.append(html.escape(word))
            continue
        parts.append(_word(word, position, is_directive=is_directive))
        position += 1
    return "".join(parts) + (_span("comment", comment) if comment else "")


def _word(word: str, position: int, *, is_directive: bool) -> str:
    if position == 0:
        kind = "directive" if is_directive else "plain" if word.startswith("+") else "element"
    elif word[0] in "'\"":
        kind = "string"
    elif word[0] == "{":
        kind = "param"
    elif word.lower() in _KEYWORDS:
        kind = "directive"
    elif _VALUE.match(word) and (is_directive or position > 2):
        kind = "value"
    else:
        kind = "node"
    return _span(kind, word)


def _span(kind: str, text: str) -> str:
    return f'<span class="s-{kind}">{html.escape(text)}</span>'


BLOCK_LIMIT = 8_000
"""Characters after which a block is ended at the next line, whatever it is."""
LONGEST_LINE = BLOCK_LIMIT
"""Characters after which a line is cut, and goes on in a block of its own. Such a line is data, no prose: it
is shown as it is written, and a view that had to lay it out as one would stand still for half a minute."""
_MOST_LINKS = 100
_MOST_TICKS = 400
_MOST_RULES = 100
"""In one block; Markdown takes time by the square of these. A block with more is data, no prose."""
_MOST_NESTED = 24
"""Quotes and lists in one another; a page takes seconds to lay out some hundred."""
WORD_BREAK = "<wbr>"
"""In a line of more than a thousand letters: where it may end. Else that would be looked for in all of a
word, and Qt would shape all of a line to draw some of it."""
NUMBERED_CODE = 12
"""Lines of code; of more each has its number (in the page: `conversation.js`)."""
KEPT_BLOCKS = 4_000
"""Rendered blocks that are kept: an answer of 200 kB has two thousand, and is shown anew at its end and
with its tab."""

_FENCE = re.compile(r"^ {0,12}(?P<mark>`{3,}|~{3,})[ \t]*(?P<info>[^`\n]*)$")
_LIST_ITEM = re.compile(r"^\s*(?:[-*+]|\d{1,9}[.)])\s+\S")
_DISPLAY = re.compile(r"^\s*(\$\$|\\\[)")
_SPICE_LINE = re.compile(
    r"^[RCLVIEGFHQMDXJK]\w*\s+\S+\s+\S+|^\.(?:ac|tran|dc|op|model|subckt|include|end|param)\b", re.I
)
_SPICE_NAMES = frozenset(("spice", "ngspice", "netlist", "cir", "sp", "ltspice", "hspice"))

# Code spans are seen first, so that a dollar in them is no formula.
_INLINE = re.compile(
    r"(?P<code>(?<!`)(?P<ticks>`+)(?!`).{1,1500}?(?<!`)(?P=ticks)(?!`))"
    r"|\$\$(?P<display>.{1,2500}?)\$\$"
    r"|\\\[(?P<bracket>.{1,2500}?)\\\]"
    r"|\\\((?P<paren>.{1,1500}?)\\\)"
    r"|(?<![\\$\w])\$(?![\s$])(?P<inline>[^$\n]{0,600}?[^$\s\\])\$(?![\d$])",
    re.S,
)
_LONG_LINE = re.compile(r"\S{1000}(?=\S)|[^\n]{800,999}[^\S\n](?=[^\n]{200})")
_BRACKET = re.compile(r"(?P<link>\[[^\[\]\n]{0,300}+\](?=[(\[:]))|\[")
_RULE = re.compile(r"^ {0,3}(?:(?:=+|-+|[*_]{3,})[ \t]*$|#{1,6} )", re.M)
_PLAIN_BRACKET = "\ue002"
_PLACE = re.compile("\ue000(\\d+)\ue001")
_NESTING = re.compile(r"<(/?)(?:blockquote|[uo]l)\b")
_DEEP = re.compile(r"^(?:[ \t>]|(?:[-*+]|\d{1,9}[.)])(?=[ \t])){200}(?=\S)", re.M)
_MARKUP_KEPT = re.compile(r"&lt;(br ?/?|/?su[bp])&gt;")
_CODE_ELEMENT = re.compile(r"(<code>.*?</code>)", re.S)

_TAGS = {
    *("p", "br", "hr", "strong", "em", "del", "code", "pre", "blockquote", "a", "sub", "sup"),
    *("ul", "ol", "li", "h1", "h2", "h3", "h4", "h5", "h6"),
    *("table", "thead", "tbody", "tr", "th", "td"),
}
_ATTRIBUTES = {"a": {"href", "title"}, "th": {"align"}, "td": {"align"}, "ol": {"start"}}
_SCHEMES = {"http", "https", "mailto"}


def to_html(text: str, render: Callable[[Block], str] | None = None) -> str:
    """A whole text; `render` makes the HTML of one block."""
    return "".join(map(render or whole_block_html, blocks_of(text)))


def blocks_of(text: str) -> list[Block]:
    """A whole text, cut."""
    splitter = BlockSplitter()
    return [*splitter.feed(text), *splitter.end()]


def code_in(text: str) -> tuple[str, ...]:
    """The code of each fence of an answer, in order."""
    found = list[list[str]]()
    for block in blocks_of(text):
        if block.kind == "code":
            found[-1:] = [[*found[-1], block.text]] if block.is_more else [*found[-1:], [block.text]]
    return tuple(map("".join, found))


def lines_of(code: Block) -> int:
    """How many lines a block of code has."""
    return code.text.removesuffix("\n").count("\n") + 1


@dataclass(frozen=True, slots=True)
class Block:
    """A part of a text that is rendered on its own."""

    kind: Literal["text", "code"]
    text: str
    """Of code: without its fence."""
    info: str = ""
    """The word behind a fence: ``spice``."""
    is_more: bool = False
    """Goes on with the code, or with the line, of the block before, which was too long for one."""

    @property
    def is_spice(self) -> bool:
        """Whether it is a netlist, or a part of one."""
        if self.kind != "code" or self.info:
            return self.kind == "code" and self.info in _SPICE_NAMES
        return sum(bool(_SPICE_LINE.match(line)) for line in self.text.split("\n")[:40]) > 1


@dataclass(slots=True)
class BlockSplitter:
    """Cuts a text that comes in pieces; each piece costs what it is long."""

    _lines: list[str] = field(default_factory=list)
    """Of the block under way, each with its end."""
    _rest: list[str] = field(default_factory=list)
    """The pieces of the line under way."""
    _rest_length: int = 0
    _length: int = 0
    """Characters of the lines."""
    _fence: str = ""
    """The mark that closes the code under way."""
    _info: str = ""
    _is_more: bool = False
    _is_cut: bool = False
    """The line under way goes on with one that was too long."""
    _is_formula: bool = False
    _after_blank: bool = False

    def feed(self, piece: str) -> list[Block]:
        """Take a piece; returns the blocks it completed."""
        head, newline, rest = piece.rpartition("\n")
        if not newline:
            self._rest.append(piece)
            self._rest_length += len(piece)
            return self._cut_rest()
        lines = ("".join(self._rest) + head).split("\n")
        self._rest, self._rest_length = [rest] if rest else [], len(rest)
        done = [block for line in lines for block in self._take(line)]
        return done + self._cut_rest()

    @property
    def tail_length(self) -> int:
        """Characters of the block that is not complete."""
        return self._length + self._rest_length

    def tail(self) -> Block | None:
        """The block that is not complete, as it stands."""
        text = "".join(self._lines) + "".join(self._rest)
        if not text.strip() and not self._fence:
            return None
        return self._block(text)

    def end(self) -> list[Block]:
        """The last block."""
        blocks = self._take("".join(self._rest)) if self._rest else []
        self._rest, self._rest_length = [], 0
        return [*blocks, *self._close()]

    def _cut_rest(self) -> list[Block]:
        """What is complete of a line under way that is too long."""
        if self._rest_length <= LONGEST_LINE:
            return []
        done, rest = self._cut("".join(self._rest))
        self._rest, self._rest_length = [rest], len(rest)
        return done

    def _cut(self, line: str) -> tuple[list[Block], str]:
        """Blocks of a line that is too long, and the rest of it."""
        done: list[Block] = []
        at = 0
        while len(line) - at > LONGEST_LINE:
            if self._lines:
                done += self._close()
                self._is_more = bool(self._fence)
            done.append(self._block(line[at : at + LONGEST_LINE]))
            self._is_cut, self._is_more = True, bool(self._fence)
            at += LONGEST_LINE
        return done, line[at:]

    def _block(self, text: str) -> Block:
        return Block("code" if self._fence else "text", text, self._info, self._is_more or self._is_cut)

    def _take(self, line: str) -> list[Block]:
        done, line = self._cut(line)
        if not self._is_cut:
            return done + self._take_line(line)
        done += self._add(line) if self._fence else [self._block(line + "\n")]
        self._is_cut = False
        return done

    def _take_line(self, line: str) -> list[Block]:
        fence = _FENCE.match(line)
        if self._fence:
            if fence and fence["mark"].startswith(self._fence) and not fence["info"].strip():
                done = self._close()
                self._fence = self._info = ""
                self._is_more = False
                return done
            return self._add(line)
        if fence:
            done = self._close()
            self._fence, self._info = fence["mark"], fence["info"].strip().lower()
            return done
        if not line.strip() and not self._is_formula:
            self._after_blank = bool(self._lines)
            return self._add(line) if self._lines else []
        done = self._close() if self._after_blank and not self._goes_on_with(line) else []
        self._after_blank = False
        self._follow_formula(line)
        return [*done, *self._add(line)]

    def _goes_on_with(self, line: str) -> bool:
        """Whether the line behind a blank one still belongs to the list before it."""
        is_list = bool(_LIST_ITEM.match(self._lines[0]))
        return is_list and (bool(_LIST_ITEM.match(line)) or line.startswith((" ", "\t")))

    def _follow_formula(self, line: str) -> None:
        if self._is_formula:
            self._is_formula = "$$" not in line and "\\]" not in line
        elif opened := _DISPLAY.match(line):
            close = "$$" if opened[1] == "$$" else "\\]"
            self._is_formula = close not in line[opened.end() :]

    def _add(self, line: str) -> list[Block]:
        self._lines.append(line + "\n")
        self._length += len(line) + 1
        if self._length <= BLOCK_LIMIT:
            return []
        done = self._close()
        self._is_more = bool(self._fence)
        return done

    def _close(self) -> list[Block]:
        text = "".join(self._lines)
        self._lines = []
        self._length = 0
        self._after_blank = self._is_formula = False
        if self._fence:
            return [] if self._is_more and not text else [Block("code", text, self._info, self._is_more)]
        return [Block("text", text)] if text.strip() else []


def block_html(block: Block) -> str:
    return visible(_code_html(block) if block.kind == "code" else _text_html(block))


@lru_cache(maxsize=KEPT_BLOCKS)
def whole_block_html(block: Block) -> str:
    """One block that will not grow any more.

    It is kept: at the end of a stream the whole answer is shown anew, which would hold the loop if each of
    its blocks were rendered once more.
    """
    return block_html(block)


def _code_html(block: Block) -> str:
    text = highlighted(block.text) if block.is_spice else html.escape(block.text)
    look = "code" + (" spice" if block.is_spice else "") + (" part" if block.is_more else "")
    return f'<pre class="{look}" data-info="{html.escape(block.info)}"><code>{text}</code></pre>'


def _text_html(block: Block) -> str:
    text = block.text.encode("utf-8", "replace").decode()  # a lone surrogate would stop the cleaner
    if (
        block.is_more
        or len(text.partition("\n")[0]) >= LONGEST_LINE
        or text.count("`") > _MOST_TICKS
        or len(_RULE.findall(text)) > _MOST_RULES
        or _DEEP.search(text)
    ):
        return _as_written(text)
    formulas: list[str] = []
    free = text.replace("\ue000", "").replace(_PLAIN_BRACKET, "")
    marked = _without_idle_brackets(_INLINE.sub(lambda found: _set_aside(found, formulas), free))
    converter = _markdown()
    converter.reset()
    try:
        raw = converter.convert("\n".join(_with_list_breaks(marked)))
    except RecursionError:  # thousands of nested marks: no text anybody means
        return _as_written(text)
    if _depth_of(raw) > _MOST_NESTED:
        return _as_written(text)
    pieces = _CODE_ELEMENT.split(raw)
    raw = "".join(
        piece if number % 2 else _MARKUP_KEPT.sub(r"<\1>", piece) for number, piece in enumerate(pieces)
    )
    clean = nh3.clean(raw, tags=_TAGS, attributes=_ATTRIBUTES, url_schemes=_SCHEMES, url_relative="deny")
    clean = clean.replace(_PLAIN_BRACKET, "[")
    return _PLACE.sub(lambda found: _formula(found, formulas), clean)


def _as_written(text: str) -> str:
    pieces = _LONG_LINE.sub("\\g<0>\ue000", text.replace("\ue000", "")).split("\ue000")
    shown = WORD_BREAK.join(map(html.escape, pieces)).strip("\n").replace("\n", "<br>")
    return f"<p>{shown}</p>"


def _depth_of(markup: str) -> int:
    """How many quotes and lists stand in one another."""
    steps = (-1 if found[1] else 1 for found in _NESTING.finditer(markup))
    return max(accumulate(steps), default=0)


def _without_idle_brackets(text: str) -> str:
    """`text` with a sign in the place of each bracket that begins no link.

    For each opening bracket the library looks for its closing one, to the end of the block.
    """
    links = 0

    def put(found: re.Match[str]) -> str:
        nonlocal links
        links += found["link"] is not None
        is_kept = found["link"] is not None and links <= _MOST_LINKS
        return found[0] if is_kept else _PLAIN_BRACKET + found[0][1:]

    return _BRACKET.sub(put, text)


def _set_aside(found: re.Match[str], formulas: list[str]) -> str:
    if found["code"]:
        return found[0]
    tex, is_display = next(
        (found[name], name in ("display", "bracket"))
        for name in ("display", "bracket", "paren", "inline")
        if found[name] is not None
    )
    shown = "display" if is_display else "inline"
    formulas.append(f'<span class="math {shown}">{html.escape(tex.strip())}</span>')
    return f"\ue000{len(formulas) - 1}\ue001"


def _formula(found: re.Match[str], formulas: list[str]) -> str:
    number = int(found[1])
    return formulas[number] if number < len(formulas) else ""


def _with_list_breaks(text: str) -> Iterator[str]:
    """A list may follow a line of text at once, as models write it; Markdown wants a blank line."""
    before = ""
    for line in text.split("\n"):
        if _LIST_ITEM.match(line) and before.strip() and not _LIST_ITEM.match(before) and before[0] != " ":
            yield ""
        yield line
        before = line


@cache
def _markdown() -> Markdown:
    # As objects: by their names they would be looked for in every installed package.
    extensions = [TableExtension(use_align_attribute=True), SaneListExtension(), Nl2BrExtension()]
    converter = Markdown(extensions=extensions, tab_length=2, lazy_ol=False)
    # HTML of a model is shown as it is written; indented text is no code; pictures are links.
    converter.preprocessors.deregister("html_block")
    for name in ("html", "image_link", "image_reference", "short_image_ref"):
        converter.inlinePatterns.deregister(name)
    converter.parser.blockprocessors.deregister("code")
    return converter
