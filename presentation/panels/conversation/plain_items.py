"""Rows as rich text for the plain view: those of the page, in what Qt's rich text can show. Escaped here.

It knows no flexible boxes, borders of spans or elements that fold: heads are tables of two cells, a button
is a link on a coloured ground, and what is folded is shown again when its link was followed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple, assert_never

from presentation.panels.conversation import blocks as b
from presentation.panels.conversation.charts import told_of
from presentation.panels.conversation.empty import EmptyPage, row_of_page
from presentation.panels.conversation.formulas import with_formulas
from presentation.panels.conversation.items import Item
from presentation.panels.conversation.markup import (
    NUMBERED_CODE,
    WORD_BREAK,
    Block,
    blocks_of,
    lines_of,
    whole_block_html,
)
from presentation.panels.conversation.names import Names
from presentation.panels.conversation.plain_parts import PlainParts, lines, one_line
from presentation.panels.conversation.rows import row_of
from presentation.panels.conversation.words import CODE_ACTS
from presentation.ui.theme import Theme
from shared.message import Message, msg, visible

_TABLE = re.compile(r"<table>")
_CELL = re.compile(r"<(t[hd])\b")
_CODE = re.compile(r'<pre class="code[^>]*><code>(?P<blank>\n*)')
_CELL_LINE = "border-bottom: 1px solid {color}; padding: 4px 12px 4px 0px"
_GAP = " &nbsp;"
_SMALL = {
    "dim": "text.tertiary", "dim num": "text.tertiary", "meta": "text.tertiary", "small dim": "text.tertiary",
    "small": "text.secondary", "chip": "text.secondary", "badge": "text.secondary", "label": "text.secondary",
    "reasoning": "text.secondary", "limit": "text.secondary", "from": "info.text",
}  # fmt: skip
"""Kinds of text in the small size, and their colours."""
_COLORED = {
    "plus": "ok.text", "minus": "error.text", "problem": "error.text", "prose end ok": "ok.text",
    "running": "running.text", "warn": "warn.text",
}  # fmt: skip
_BARE = ("prose", "raw", "note", "note doubt", "prose end", "prose end ok")
"""Paragraphs that are all there is in their row, and take the height of its lines."""
_SPACED = ("",)
"""Those whose parts are words of one sentence."""
NAME_WIDTH = 80
"""Pixels of a name beside figures: at 360 pixels it would else be one letter wide."""
_PIECE = 800
"""Characters of prose that are drawn together: what is longer is in several pieces."""
_HELD = ("num", "value", "margin")
"""Cells that are never wrapped."""
_AT_THE_END = ("num", "from", "value", "bar", "margin")


class Folds:
    """What somebody opened or closed in the items; all of it as it comes until then."""

    def __init__(self) -> None:
        self._shown: dict[tuple[str, str], bool] = {}

    def is_open(self, key: str, part: str, *, from_the_start: bool) -> bool:
        return self._shown.setdefault((key, part), from_the_start)

    def turn(self, key: str, part: str) -> None:
        self._shown[key, part] = not self._shown.get((key, part), False)

    def clear(self) -> None:
        self._shown.clear()


class PlainItems:
    """Renders rows in one language and theme; `names` are links in them."""

    def __init__(
        self,
        translate: Callable[[Message], str],
        theme: Theme,
        folds: Folds,
        names: Names | None = None,
        acts: Collection[str] | None = None,
    ) -> None:
        """`acts`: as of `PlainParts`."""
        self._translate = translate
        self._names = names or Names()
        self._parts = PlainParts(theme, acts)
        self._folds = folds

    def __call__(self, item: Item) -> str:
        return self.row(item.key, row_of(item))

    def row(self, key: str, row: b.Row) -> str:
        """The same of a row; `key` is its item's."""
        drawn = _Drawn(key, self._translate, self._parts, self._folds, self._names)
        return visible(drawn.all_of(row.blocks))

    def pieces(self, key: str, row: b.Row) -> list[Piece]:
        """The same in pieces: of long prose each is drawn on its own, and is the same when more follows."""
        at = next((at for at, node in enumerate(row.blocks) if isinstance(node, b.Prose)), -1)
        long = row.blocks[at] if at >= 0 else None
        if not isinstance(long, b.Prose) or len(long.markdown) <= _PIECE:
            return [self._whole(key, row.blocks)]
        groups = list[Group]()
        for block in blocks_of(long.markdown):
            add_block(groups, block)
        prose = (self.prose(key, group) for group in groups)
        behind = self._whole(key, row.blocks[at + 1 :])
        return [self._whole(key, row.blocks[:at]), *prose, *([behind] if behind.what else [])]

    def prose(self, key: str, group: Group) -> Piece:
        """One of the groups of blocks of an answer."""
        before, blocks = group.before, tuple(group.blocks)
        what = (key, self._translate, self._parts, self._folds, self._names)
        return Piece(
            (blocks, before, self._names),
            lambda: visible(_Drawn(*what, before=before).prose(blocks)),
            sum(len(block.text) for block in blocks),
        )

    def _whole(self, key: str, blocks: b.Blocks) -> Piece:
        html_of_it = self.row(key, b.Row(blocks))
        return Piece(html_of_it, lambda: html_of_it)

    def empty(self, page: EmptyPage) -> str:
        """What stands in a conversation without items."""
        return self.row("", row_of_page(page))


class Piece(NamedTuple):
    """A part of a row that is drawn by itself."""

    what: object
    """Equal where it would be drawn the same."""
    html: Callable[[], str]
    length: int = 0
    """Characters of prose in it."""


@dataclass(slots=True)
class Group:
    """Blocks of an answer that are drawn together."""

    before: tuple[int, int] = (0, 0)
    """Blocks of code before them, and lines of the last of those: a block may go on with it."""
    blocks: list[Block] = field(default_factory=list)

    @property
    def behind(self) -> Group:
        """An empty one that follows."""
        codes, lines = self.before
        for block in self.blocks:
            if block.kind == "code":
                codes += not block.is_more
                lines = lines * block.is_more + lines_of(block)
        return Group((codes, lines))


def add_block(groups: list[Group], block: Block) -> int:
    """Put the next block of an answer where it is drawn; the number of its group."""
    if not groups:
        groups.append(Group())
    elif sum(len(each.text) for each in groups[-1].blocks) >= _PIECE:
        groups.append(groups[-1].behind)
    groups[-1].blocks.append(block)
    return len(groups) - 1


@lru_cache(maxsize=1_000)
def _rich_text(block: Block) -> str:
    """What Qt can show of it: it knows neither formulas nor the places where a word may break."""
    return with_formulas(whole_block_html(block).replace(WORD_BREAK, "<br>"))


class _Drawn:
    """One row, or a part of it: `before` are the blocks of code before it, and the lines of the last one."""

    def __init__(
        self,
        key: str,
        translate: Callable[[Message], str],
        parts: PlainParts,
        folds: Folds,
        names: Names,
        *,
        before: tuple[int, int] = (0, 0),
    ) -> None:
        self._key = key
        self._names = names
        self._translate = translate
        self._parts = parts
        self._folds = folds
        self._codes, self._lines = before
        """Code blocks of the prose so far, and lines of the last of them."""

    def all_of(self, nodes: Iterable[b.Node]) -> str:
        return "".join(map(self._node, nodes))

    def _joined(self, nodes: Iterable[b.Node], gap: str = _GAP) -> str:
        """Parts side by side; an icon keeps its distance, and what was taken is close to what was added."""
        drawn, is_behind_icon = "", False
        for node in nodes:
            each = self._node(node)
            if drawn and each:
                is_close = isinstance(node, b.Text) and node.kind == "minus"
                drawn += " " if is_close else _GAP if is_behind_icon else gap
            drawn += each
            is_behind_icon = isinstance(node, b.Icon) if each else is_behind_icon
        return drawn

    def _say(self, text: b.Said) -> str:
        return b.say(text, self._translate)

    def _text(self, text: b.Said) -> str:
        return lines(self._say(text))

    def _node(self, node: b.Node) -> str:  # noqa: PLR0911, PLR0912 - one a kind of node
        match node:
            case b.Text():
                return self._words(node)
            case b.Icon():
                return self._parts.icon(node.name, node.tone)
            case b.Spinner():
                return self._parts.small(self._text(node.label), "running.text")
            case b.Button():
                return self._button(node)
            case b.Place():
                place = f"{node.path}:{node.line}"
                shown = place if node.line and node.is_named_whole else node.path
                return self._parts.link("open", self._key, self._parts.mono(shown), place)
            case b.WebLink():
                return self._parts.web_link(node.url, node.label, node.tip)
            case b.Bar():
                return self._parts.bar(node.fill, met=node.met)
            case b.ProgressBar():
                return self._parts.progress(node.share)
            case b.Countdown():
                text = self._text(node.text).replace("{seconds}", f"{node.left_s:.0f}")
                return self._parts.colored(text, "running.text")
            case b.Line():
                return self._line(node)
            case b.Para():
                return self._para(node)
            case b.Prose():
                return self.prose(blocks_of(node.markdown))
            case b.Pre():
                return f"<pre>{self._parts.escaped(node.text)}</pre>"
            case b.Field():
                return self._parts.field_room()
            case b.Bullets():
                return self._bullets(node)
            case b.Numbered():
                return "".join(f"<p>{self._joined(row, ' ')}</p>" for row in node.rows)
            case b.Table():
                rows = "".join(f"<tr>{''.join(map(self._cell, cells))}</tr>" for _, cells in node.rows)
                return f"<table cellpadding='2' width='100%'>{rows}</table>" if rows else ""
            case b.Diff():
                return self._diff(node)
            case b.Fold():
                return self._line(node.head, node)
            case b.Buttons():
                buttons = self._joined(node.buttons)
                return f"<p>{buttons}</p>" if buttons else ""
            case b.Frame():
                rule = self._parts.rule() if node.has_rule else ""
                return rule + (self._joined if node.is_in_line else self.all_of)(node.blocks)
            case b.AttachedFiles():
                files = "<br>".join(map(self._file, node.files))
                return f"<p>{files}</p>" if files else ""
            case b.Curves():
                key = f"{self._key}/{node.number}" if node.number else self._key
                return self._parts.chart(key, told_of(node.chart))
            case b.Inner():
                return _Drawn(node.key, self._translate, self._parts, self._folds, self._names).all_of(
                    node.row.blocks
                )
            case b.Only():
                return self._joined(node.blocks) if node.view == "plain" else ""
            case b.Break():
                return "<br>"
            case _:
                assert_never(node)

    def _words(self, node: b.Text) -> str:
        text = self._text(node.text)
        return self._styled(
            self._names.in_text(text, self._name) if node.has_names else text, node.kind, node.tone
        )

    def _name(self, act: str, argument: str, shown: str) -> str:
        return self._parts.link(act, self._key, shown, argument)

    def _styled(self, text: str, kind: str, tone: str = "") -> str:
        """Rich text as its kind looks; a tone goes before the kind's own colour."""
        if not text:
            return ""
        if kind in _SMALL:
            return self._parts.small(text, tone or _SMALL[kind])
        if kind in ("code", "expr"):
            text = f"<code>{text}</code>"
            tone = "text.tertiary" if kind == "expr" else "text.primary"
        color = tone or _COLORED.get(kind, "")
        text = self._parts.colored(text, color) if color else text
        if kind in ("bold", "struck", "value", "prose end", "prose end ok"):
            text = f"<b>{text}</b>"
        return f"<s>{text}</s>" if kind in ("struck", "was") else text

    def _para(self, para: b.Para) -> str:
        inside = self._joined(para.parts, " " if para.kind in _SPACED else _GAP).replace(" <br> ", "<br>")
        shown = self._styled(inside, para.kind, para.tone)
        return shown if para.kind in _BARE else f"<p>{shown}</p>"

    def _line(self, line: b.Line, fold: b.Fold | None = None) -> str:
        """A head, and below it what of the folds in it is open."""
        left = ""
        folds = [fold] if fold is not None else [node for node in line.left if isinstance(node, b.Fold)]
        below = ""
        for each in folds:
            is_open = self._folds.is_open(self._key, each.part, from_the_start=each.is_open)
            title = self._text_of(each.head)
            left += self._parts.fold(self._key, each.part, title, is_open=is_open)
            below += self.all_of(each.body) if is_open else ""
        if fold is None or not self._text_of(line):
            left += self._joined(node for node in line.left if not isinstance(node, b.Fold))
        return self._parts.head(left, self._joined(line.right or ())) + below

    def _text_of(self, head: b.Line) -> str:
        """The words of a head that has nothing else: they fold as its arrow does."""
        is_text = all(isinstance(node, b.Text) for node in head.left)
        return self.all_of(head.left) if is_text else ""

    def _button(self, node: b.Button) -> str:  # noqa: PLR0911 - one a kind
        label, argument, tip = self._text(node.label), self._say(node.argument), self._say(node.tip)
        if not self._parts.can(node.act):
            return label if node.kind == "name" else ""
        link = self._parts.link(node.act, self._key, label, argument)
        match node.kind:
            case "icon" | "redo":
                return self._parts.tool(node.act, self._key, node.icon, self._say(node.label), argument)
            case "name":
                ink = f"color:{self._parts.hex('text.primary')}" if node.act == "measure" else ""
                return self._parts.link(node.act, self._key, label, argument, style=ink)
            case "aside":
                return self._parts.quiet(node.act, self._key, label)
            case "way":
                return self._parts.head(link, self._parts.small(self._text(node.remark), "text.tertiary"))
            case "ask":
                return f"<p>{self._parts.icon(node.icon)}{_GAP}{link}</p>"
            case _ if node.is_enabled:
                return self._parts.button(node.act, self._key, label, argument, node.kind, tip)
            case _ if node.is_chosen:
                return f"{self._parts.icon('check')} {label}"
            case _:
                return self._parts.colored(label, "text.disabled")

    def _cell(self, cell: b.Cell) -> str:
        inside = self.all_of(cell.parts)
        if cell.kind in _HELD:
            inside = one_line(
                "".join(self._say(part.text) for part in cell.parts if isinstance(part, b.Text))
            )
        align = " align='right'" if cell.kind in _AT_THE_END else ""
        align += " valign='middle'" if cell.kind == "bar" else ""
        align += f" width='{NAME_WIDTH}'" if cell.kind == "name" else ""
        align += " style='white-space: nowrap'" if cell.kind in _HELD else ""
        return f"<td{align}>{self._styled(inside, cell.kind, cell.tone)}</td>"

    def _bullets(self, node: b.Bullets) -> str:
        texts = map(self._text, node.texts)
        rows = "".join(
            f"<li>{self._parts.small(text, node.tone) if node.tone else text}</li>" for text in texts
        )
        return f"<ul>{rows}</ul>" if rows else ""

    def _diff(self, diff: b.Diff) -> str:
        shown, rest = diff.rows, ""
        more = len(diff.rows) - diff.most
        if more > 0 and not self._folds.is_open(self._key, "rest", from_the_start=False):
            label = self._text(msg("{count} more", count=more))
            rest = f"<p>{self._parts.link('fold', self._key, label, 'rest')}</p>"
            shown = diff.rows[: diff.most]
        return (
            self._parts.diff([self._parts.diff_row(row.kind, row.number, row.text) for row in shown]) + rest
        )

    def _file(self, file: b.AttachedFile) -> str:
        picture = f'<img src="{file.address}" height="96"><br>' if file.address else ""
        return picture + self._parts.link("attachment", self._key, self._text(file.told), str(file.number))

    def _block(self, block: Block) -> str:
        made = _rich_text(block)
        if block.kind != "code":
            return self._ruled(self._names.in_html(made, self._name))
        code = self._code(block, made)
        if block.is_more:
            return code
        self._codes += 1
        acts = CODE_ACTS if block.is_spice else CODE_ACTS[-1:]
        ways = (
            self._parts.link(
                act, self._key, self._parts.small(self._text(words), "text.link"), str(self._codes - 1)
            )
            for act, words in acts
            if self._parts.can(act)
        )
        return f"{code}<p>{_GAP.join(ways)}</p>"

    def _code(self, block: Block, made: str) -> str:
        """Code on its ground; longer code has the numbers of its lines."""
        found = _CODE.match(made)
        assert found is not None, "code is drawn as such"
        blank, inside = found["blank"], made[found.end() :]
        first = self._lines * block.is_more + 1
        self._lines = first - 1 + lines_of(block)
        if self._lines <= NUMBERED_CODE:
            return self._parts.code(f"<pre><code>{blank}{inside}")
        number = self._parts.line_number(first + len(blank))  # an empty line holds no mark
        return self._parts.code(f"<pre><code>{blank}{number}{inside}", last=self._lines)

    def _ruled(self, made: str) -> str:
        """Text with the lines of tables that the page has from its style."""
        # Qt rounds the widths of columns up: with all there is, four of them are a pixel wider than the view.
        made = _TABLE.sub("<table class='data' width='99%' cellspacing='0'>", made)
        cell = _CELL_LINE.format(color=self._parts.hex("border.divider"))
        return _CELL.sub(rf"<\1 style='{cell}'", made)

    def prose(self, blocks: Iterable[Block]) -> str:
        """Blocks of Markdown."""
        return "".join(map(self._block, blocks))
