"""What a row of the conversation is made of, for every view: a small tree of blocks and parts of lines.

A row is written down once (`rows.py`) and drawn by two renderers (`html_view.py`, `plain_items.py`). Texts
are messages or plain text, never markup: renderers translate and escape. `kind` names a look, as a class of
resources/web/conversation.css; `tone` is a colour of the theme for the view that has no style sheet.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

from presentation.panels.conversation.charts import Chart
from shared.message import Message

Translate = Callable[[Message], str]
Said: TypeAlias = "Message | str | Callable[[Translate], str] | tuple[Said, ...]"
"""A text for people; of several, one behind the other; a function puts it together in a language."""
View = Literal["page", "plain"]
_BEFORE_UNIT = re.compile(r"(?<=\d) (?=(?:dB|%|°C|[fpnuµmkMGT]?(?:Hz|V|A|Ω|F|H|W|s))(?!\w))")


@dataclass(frozen=True, slots=True)
class Held:
    """A text in which no number is torn from its unit at the end of a line."""

    text: Message

    def __call__(self, translate: Translate) -> str:
        return _BEFORE_UNIT.sub("\u00a0", translate(self.text))


# --- parts of a line ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Text:
    """Words."""

    text: Said
    kind: str = ""
    tone: str = ""
    tip: Said = ""
    has_names: bool = False
    """Whether names of the project in it can be clicked (`names.py`)."""


@dataclass(frozen=True, slots=True)
class Break:
    """The next part stands below, in a view where its look alone does not put it there."""


@dataclass(frozen=True, slots=True)
class Icon:
    """A picture of resources/icons."""

    name: str
    tone: str = "text.secondary"
    kind: str = ""
    tip: Said = ""


@dataclass(frozen=True, slots=True)
class Spinner:
    """Something is under way; the label is for those who don't see it turn."""

    label: Said = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Button:
    """Does something (see `acts.py`) with the row's item."""

    act: str
    label: Said
    argument: Said = ""
    kind: str = ""
    """primary, ok, warn, quiet; aside: quiet and small; icon, redo: the label is the tip of an icon; way:
    over the whole width; ask: a question that can be asked; name: words that can be clicked."""
    icon: str = ""
    tip: Said = ""
    remark: Said = ""
    """Of a way: what there is to know about it, at its end."""
    is_enabled: bool = True
    is_chosen: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A file of the project, to be opened at a line (0: as it is)."""

    path: str
    line: int = 0
    is_named_whole: bool = True
    """Whether the line is part of its name also where there is little room."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WebLink:
    """An address that may be opened in the user's browser."""

    url: str
    label: str
    tip: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """The margin of a goal, from -1 to 1."""

    fill: float
    met: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgressBar:
    """How much of something is done, 0 to 1, over the whole width; the label says of what."""

    share: float
    label: Said


@dataclass(frozen=True, slots=True, kw_only=True)
class Countdown:
    """Seconds that go by; `text` has them as ``{seconds}``."""

    left_s: float
    text: Said


# --- blocks ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Line:
    """Parts on one line, some of them at its right end."""

    kind: str
    left: Parts
    right: Parts | None = None
    tip: Said = ""
    has_spacer: bool = True
    """False where the look of the right parts itself puts them at the end."""


@dataclass(frozen=True, slots=True)
class Para:
    """Parts that are wrapped as text."""

    kind: str
    parts: Parts
    tone: str = ""
    tip: Said = ""


@dataclass(frozen=True, slots=True)
class Prose:
    """Markdown of a model."""

    markdown: str


@dataclass(frozen=True, slots=True)
class Pre:
    """A text with its own lines."""

    text: str


@dataclass(frozen=True, slots=True)
class Bullets:
    """A list."""

    texts: tuple[Said, ...]
    tone: str = ""


@dataclass(frozen=True, slots=True)
class Numbered:
    """A list whose rows bring their numbers."""

    rows: tuple[Parts, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """Of a table."""

    parts: Parts
    kind: str = ""
    tip: Said = ""
    tone: str = ""


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of cells, each row with its mark (``good``, ``bad`` or none)."""

    kind: Literal["goals", "rows"]
    rows: tuple[tuple[str, tuple[Cell, ...]], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class DiffRow:
    """A line of a difference; `other` is the one it replaced, or that replaced it."""

    kind: Literal["add", "del", ""]
    text: str
    number: int | None = None
    place: str = ""
    other: str | None = None


@dataclass(frozen=True, slots=True)
class Diff:
    """Lines of a difference; those behind the first `most` are shown when somebody wants them."""

    rows: tuple[DiffRow, ...]
    most: int = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Fold:
    """A head that shows and hides what stands below it; `part` is its name within the row."""

    part: str
    head: Line
    body: Blocks
    kind: str = ""
    is_open: bool = False
    """Until somebody opens or closes it."""
    is_hidden: bool = False
    has_arrow: bool = True


@dataclass(frozen=True, slots=True)
class Buttons:
    """Ways on, side by side."""

    buttons: tuple[Button, ...]
    kind: str = "buttons"


@dataclass(frozen=True, slots=True)
class Frame:
    """Blocks that belong together."""

    kind: str
    blocks: Blocks
    role: str = ""
    """For those who hear the page."""
    has_rule: bool = False
    """A line above, where the look alone draws none."""
    is_in_line: bool = False
    """Its blocks are parts of the line it stands in."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AttachedFile:
    """A file or picture that went with a message, shown large by a click."""

    number: int
    name: str
    facts: str
    told: Message
    icon: str
    address: str = ""
    """Of a small picture of it."""
    is_lost: bool = False


@dataclass(frozen=True, slots=True)
class AttachedFiles:
    """All of a message."""

    files: tuple[AttachedFile, ...]


@dataclass(frozen=True, slots=True)
class Curves:
    """A small picture of a run, or one of several of a study."""

    chart: Chart
    number: int = 0


@dataclass(frozen=True, slots=True)
class Inner:
    """The row of an item of its own, inside of another one's."""

    key: str
    row: Row


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """A text that is written in the row: Enter does `act` with it, Esc leaves it; what is written is told
    meanwhile (act "row_text")."""

    act: str
    leave: str
    text: str
    label: Said


@dataclass(frozen=True, slots=True)
class Only:
    """What one of the views alone shows."""

    view: View
    blocks: Blocks


Node: TypeAlias = (
    Text | Break | Icon | Spinner | Button | Place | WebLink | Bar | ProgressBar | Countdown | Line | Para
    | Prose | Pre | Bullets | Numbered | Table | Diff | Fold | Buttons | Frame | AttachedFiles | Curves
    | Field | Inner | Only
)  # fmt: skip
Parts = tuple[Node, ...]
Blocks = tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Row:
    """What stands for an item, and what is drawn around it where that is not a matter of style."""

    blocks: Blocks
    frame: Literal["", "user", "card", "asks"] = ""


def say(text: Said, translate: Translate) -> str:
    if isinstance(text, str):
        return text
    if isinstance(text, tuple):
        return "".join(say(each, translate) for each in text)
    return translate(text) if isinstance(text, Message) else text(translate)
