"""Rows as HTML for the web page. Everything that is not ours is escaped here, or cleaned (`markup.py`)."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterable
from functools import cache, lru_cache
from typing import assert_never

from presentation.look import drawings
from presentation.panels.conversation import blocks as b
from presentation.panels.conversation.charts import svg_of
from presentation.panels.conversation.items import Item
from presentation.panels.conversation.markup import KEPT_BLOCKS, Block, block_html, to_html, whole_block_html
from presentation.panels.conversation.names import Names
from presentation.panels.conversation.rows import row_of
from presentation.panels.conversation.words import split_words
from shared.message import HIDDEN, Message, msg, visible

_REFERENCES = {code: f"&#{code};" for code in HIDDEN}
_OPERATOR = re.compile(r"(?<=[\w)])[-+*/,](?=[\w(])")
"""Behind it an expression is broken that is wider than its cell, rather than within a name."""
_TEXTS = {
    "bold": ("b", ""), "struck": ("b", ""), "was": ("s", ""), "time": ("time", ""), "code": ("code", ""),
    "expr": ("div", "expr"), "title": ("span", ""), "label": ("span", ""), "aside": ("span", "dim"),
}  # fmt: skip
"""Elements of kinds of text; of all others a span of their class."""
_BUTTONS = {"aside": "quiet", "redo": "quiet", "ask": ""}
_TABLES = {"goals": ("table", "tr", "td"), "rows": ("div", "div", "span")}
_SPACED = ("",)
"""Kinds of paragraphs whose parts are words of one sentence, not boxes."""


@cache
def icon(name: str) -> str:
    """A Lucide icon in the colour of the text around it."""
    text = drawings()[name]
    start = text.index("<svg")
    return text[start:].replace("<svg", f'<svg aria-hidden="true" data-icon="{name}"', 1)


def _tag(name: str, inside: str, kind: str = "", **attributes: str | bool) -> str:
    """An element; its attributes are escaped, empty ones are left out, ``data_act`` is ``data-act``."""
    given = {"class": kind.strip(), **attributes}
    words = [
        f" {key.replace('_', '-')}" + ("" if value is True else f'="{_attribute(key, value)}"')
        for key, value in given.items()
        if value
    ]
    return f"<{name}{''.join(words)}>{inside}</{name}>"


def _attribute(key: str, value: str) -> str:
    """What is acted on keeps every character; all else of a row is shown with signs for those not seen."""
    text = html.escape(value)
    return text.translate(_REFERENCES) if key == "data_arg" else text


def _variable(color: str) -> str:
    return f"var(--{color.replace('.', '-')})"


def _acting(act: str, argument: str, shown: str, kind: str = "name", tip: str = "") -> str:
    """Words that do something when they are clicked; `shown` is HTML."""
    return _tag("a", shown, kind, role="link", tabindex="0", title=tip, data_act=act, data_arg=argument)


@lru_cache(maxsize=KEPT_BLOCKS)
def whole_prose(block: Block, names: Names) -> str:
    """A block of an answer that will not grow any more, with the names of the project in it as links."""
    html_of_it = whole_block_html(block)
    return html_of_it if block.kind == "code" else names.in_html(html_of_it, _acting)


def growing_prose(block: Block, names: Names) -> str:
    """The same of one that is not complete yet."""
    html_of_it = block_html(block)
    return html_of_it if block.kind == "code" else names.in_html(html_of_it, _acting)


def kind_of(item: Item) -> str:
    """The class of a row."""
    name = type(item).__name__
    return "k-" + {"UserText": "user", "AnswerText": "answer"}.get(name, name.lower())


class HtmlItems:
    """Renders rows in one language; `names` are links in them."""

    def __init__(
        self,
        translate: Callable[[Message], str],
        draw: Callable[[str], str] = icon,
        names: Names | None = None,
    ) -> None:
        self._translate = translate
        self._icon = draw
        self.names = names or Names()

    def __call__(self, item: Item) -> str:
        return self.row(row_of(item))

    def row(self, row: b.Row) -> str:
        return visible(self._all(row.blocks))

    def _all(self, nodes: Iterable[b.Node], glue: str = "") -> str:
        return glue.join(filter(None, map(self._node, nodes)))

    def _say(self, text: b.Said) -> str:
        return b.say(text, self._translate)

    def _text(self, text: b.Said) -> str:
        return html.escape(self._say(text))

    def _node(self, node: b.Node) -> str:  # noqa: PLR0911, PLR0912 - one a kind of node
        match node:
            case b.Text():
                return self._words(node)
            case b.Icon():
                drawn = self._icon(node.name)
                return _tag("span", drawn, node.kind, title=self._say(node.tip)) if node.kind else drawn
            case b.Spinner():
                label = self._say(node.label)
                return _tag("span", self._icon("loader-circle"), "spin", role="status", aria_label=label)
            case b.Button():
                return self._button(node)
            case b.Place():
                words = html.escape(f"{node.path}:{node.line}" if node.line else node.path)
                return _acting("open", f"{node.path}:{node.line}", words, "file")
            case b.WebLink():
                return _tag("a", html.escape(node.label), href=node.url, title=node.tip)
            case b.Bar():
                side = "right" if node.fill >= 0 else "left"
                return _tag("i", "", side, data_fill=f"{abs(node.fill):.3f}")
            case b.ProgressBar():
                told = {"aria_label": self._say(node.label), "max": "100"}
                return _tag("progress", "", value=f"{100 * node.share:.0f}", **told)
            case b.Countdown():
                return _tag(
                    "span", "", "running", data_countdown=f"{node.left_s:.1f}", data_text=self._say(node.text)
                )
            case b.Line():
                return _tag("div", self._line(node), node.kind, title=self._say(node.tip))
            case b.Para():
                inside = self._all(node.parts, " " if node.kind in _SPACED else "")
                return _tag("div", inside, node.kind, title=self._say(node.tip)) if node.kind else inside
            case b.Prose():
                made = to_html(node.markdown, lambda block: whole_prose(block, self.names))
                return _tag("div", made, "prose answer") if node.markdown else ""
            case b.Pre():
                return _tag("pre", html.escape(node.text))
            case b.Bullets():
                rows = "".join(_tag("li", self._text(text)) for text in node.texts)
                return _tag("ul", rows, "notes") if rows else ""
            case b.Numbered():
                return _tag("ol", "".join(_tag("li", self._all(row, " ")) for row in node.rows))
            case b.Table():
                return self._table(node)
            case b.Diff():
                return self._diff(node)
            case b.Fold():
                return self._fold(node)
            case b.Buttons():
                return _tag("div", self._all(node.buttons), node.kind) if node.buttons else ""
            case b.Frame():
                name = "span" if node.is_in_line else "div"
                return _tag(name, self._all(node.blocks), node.kind, role=node.role)
            case b.AttachedFiles():
                return self._attachments(node)
            case b.Curves():
                return svg_of(node.chart, _variable)
            case b.Field():
                acts = {"data_field": node.act, "data_leave": node.leave, "data_arg": node.text}
                return _tag("textarea", "", rows="1", aria_label=self._say(node.label), **acts)
            case b.Inner():
                return _tag("div", self.row(node.row), "item", data_key=node.key)
            case b.Only():
                return self._all(node.blocks) if node.view == "page" else ""
            case b.Break():
                return ""
            case _:
                assert_never(node)

    def _words(self, node: b.Text) -> str:
        text = self._text(node.text)
        if node.has_names:
            text = self.names.in_text(text, _acting)
        if not node.kind:
            return text
        if node.kind == "where":  # gives way before anything else on its line does
            return _tag("span", _tag("span", text), "dim where")
        if node.kind == "expr":
            text = _OPERATOR.sub(r"\g<0><wbr>", text)
        name, kind = _TEXTS.get(node.kind, ("span", node.kind))
        return _tag(name, text, kind, title=self._say(node.tip))

    def _button(self, node: b.Button) -> str:
        label, kind = self._text(node.label), _BUTTONS.get(node.kind, node.kind)
        drawn = self._icon(node.icon) if node.icon else ""
        act = {"data_act": node.act, "data_arg": self._say(node.argument)}
        if kind == "name":
            return _acting(node.act, self._say(node.argument), label, tip=self._say(node.tip))
        if kind == "icon":
            told = self._say(node.label)
            off = not node.is_enabled
            return _tag("button", drawn, kind, disabled=off, title=told, aria_label=told, **act)
        if kind == "way":
            inside = _tag("span", label) + _tag("span", self._text(node.remark), "dim")
            return _tag("button", inside, kind, **act)
        drawn = self._icon("check") if node.is_chosen else drawn
        look = f"{kind} chosen" if node.is_chosen else kind
        tip = self._say(node.tip)
        return _tag("button", drawn + label, look, disabled=not node.is_enabled, title=tip, **act)

    def _line(self, line: b.Line) -> str:
        if line.right is None:
            return self._all(line.left)
        spacer = _tag("span", "", "spacer") if line.has_spacer else ""
        return f"{self._all(line.left)}{spacer}{self._all(line.right)}"

    def _table(self, table: b.Table) -> str:
        outer, row_name, cell_name = _TABLES[table.kind]
        rows = ""
        for mark, cells in table.rows:
            inside = "".join(
                _tag(cell_name, self._all(cell.parts), cell.kind, title=self._say(cell.tip)) for cell in cells
            )
            rows += _tag(row_name, inside, f"goal {mark}" if mark else "")
        return _tag(outer, rows, table.kind) if rows else ""

    def _fold(self, fold: b.Fold) -> str:
        arrow = self._icon("chevron-right") if fold.has_arrow else ""
        head = _tag("summary", arrow + self._line(fold.head), fold.head.kind)
        state: dict[str, str | bool] = {"open": fold.is_open, "hidden": fold.is_hidden}
        return _tag("details", head + self._all(fold.body), fold.kind, data_fold=fold.part, **state)

    def _diff(self, diff: b.Diff) -> str:
        befores = (None, *diff.rows)
        rows = [
            self._diff_row(row, is_first=before is None or not before.place)
            for before, row in zip(befores, diff.rows, strict=False)
        ]
        shown, rest = rows[: diff.most], rows[diff.most :]
        more = ""
        if rest:
            label = self._text(msg("{count} more", count=len(rest)))
            more = _tag("div", "".join(rest), "rest", hidden=True)
            more += _tag("button", label, "more", data_more=True)
        return _tag("div", "".join(shown) + more, "diff")

    def _diff_row(self, row: b.DiffRow, *, is_first: bool) -> str:
        """Of lines that can be opened, one behind the other, keys reach the first."""
        sign = {"del": "−", "add": "+"}.get(row.kind, "")
        number = "" if row.number is None else str(row.number)
        text = html.escape(row.text) if row.other is None else _marked(row.text, row.other)
        place = {"data_act": "open", "data_arg": row.place} if row.place else {}
        if row.place and is_first:
            place |= {"role": "link", "tabindex": "0", "aria_label": row.place}
        cells = _tag("span", number, "ln", **place) + _tag("span", sign) + _tag("span", text)
        return _tag("div", cells, f"row {row.kind}")

    def _attachments(self, node: b.AttachedFiles) -> str:
        pictures, files = [], []
        for each in node.files:
            told = self._say(each.told)
            act = {"title": told, "aria_label": told, "data_act": "attachment", "data_arg": str(each.number)}
            if each.address:
                pictures.append(_tag("button", f'<img alt="" src="{each.address}">', "picture", **act))
                continue
            name, facts = _tag("span", html.escape(each.name)), _tag("span", html.escape(each.facts), "dim")
            look = "file lost" if each.is_lost else "file"
            files.append(_tag("button", self._icon(each.icon) + name + facts, look, **act))
        return "".join(_tag("div", "".join(row), "attached") for row in (pictures, files) if row)


def _marked(line: str, other: str) -> str:
    """The line with the words that the other one does not have marked."""
    known = set(other.split())
    return "".join(
        html.escape(word) if not word.strip() or word in known else _tag("mark", html.escape(word))
        for word in split_words(line)
    )
