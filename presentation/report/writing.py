"""A report's blocks as a page that needs nothing else, and as Markdown."""

from __future__ import annotations

import base64
import html
import json
import re
from collections.abc import Sequence
from pathlib import Path

from presentation.report.blocks import Block, Cell, Code, Heading, Paragraph, Picture, Table

_RESOURCES = Path(__file__).resolve().parents[2] / "resources"
_STYLE = _RESOURCES / "web" / "report.css"
_FONTS = {400: "Inter-Regular", 600: "Inter-SemiBold"}
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; font-src data:; img-src data:"
_MONO = "JetBrainsMono-Regular"
_HOLES = re.compile(r"@([a-z_]+\.[a-z_]+)")
_SPECIAL = re.compile(r"([\\`*_\[\]<>|#])")
_SHORT = 12
_FENCE = re.compile(r"`{3,}")


def as_page(blocks: Sequence[Block], *, language: str) -> str:
    """HTML with its styles, typefaces and pictures inside; nothing in it runs or loads. Blocking."""
    title = next((block.text for block in blocks if isinstance(block, Heading)), "")
    body = "\n".join(map(_element, blocks))
    return (
        f'<!doctype html>\n<html lang="{"zh-CN" if language == "zh" else "en"}">\n<head>\n'
        f'<meta charset="utf-8">\n<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        f"<title>{html.escape(title)}</title>\n<style>\n{_style()}</style>\n</head>\n<body>\n{body}\n"
        "</body>\n</html>\n"
    )


def as_markdown(blocks: Sequence[Block], *, pictures: Sequence[str]) -> str:
    """Markdown; `pictures` has the name of a file for each picture, in their order."""
    names = iter(pictures)
    parts = [
        f"![{_plain(block.caption)}]({next(names)})" if isinstance(block, Picture) else _marked(block)
        for block in blocks
    ]
    return "\n\n".join(parts) + "\n"


def pictures_of(blocks: Sequence[Block]) -> tuple[str, ...]:
    """The drawings, as SVG."""
    return tuple(block.svg for block in blocks if isinstance(block, Picture))


def _style() -> str:
    tokens = json.loads((_RESOURCES / "look" / "tokens.json").read_text("utf-8"))
    colors = tokens["theme"]["light"]

    def color(found: re.Match[str]) -> str:
        value = colors
        for part in found[1].split("."):
            value = value[part]
        return str(value)

    faces = [
        f'@font-face {{ font-family: "{family}"; font-weight: {weight}; src: url({_font(name)}); }}'
        for family, weight, name in (
            *(("Inter", weight, name) for weight, name in _FONTS.items()),
            ("JetBrains Mono", 400, _MONO),
        )
    ]
    return "\n".join([*faces, _HOLES.sub(color, _STYLE.read_text("utf-8"))])


def _font(name: str) -> str:
    data = base64.b64encode((_RESOURCES / "fonts" / f"{name}.ttf").read_bytes()).decode("ascii")
    return f"data:font/ttf;base64,{data}"


def _element(block: Block) -> str:
    match block:
        case Heading():
            return f"<h{block.level}>{html.escape(block.text)}</h{block.level}>"
        case Paragraph():
            return f"<p{_class(block.mood)}>{html.escape(block.text)}</p>"
        case Code():
            return f"<pre>{html.escape(block.text)}</pre>"
        case Table():
            head = "".join(
                f"<th{_class(_classes(text, 'number' if cell.is_number else ''))}>{html.escape(text)}</th>"
                for text, cell in zip(block.head, _first(block), strict=True)
            )
            rows = "\n".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in block.rows)
            return f"<table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{rows}\n</tbody>\n</table>"
        case Picture(is_own=True):
            caption = f"<figcaption>{html.escape(block.caption)}</figcaption>" if block.caption else ""
            return f'<figure class="own">{block.svg.strip()}{caption}</figure>'
        case Picture():
            data = base64.b64encode(block.svg.encode("utf-8")).decode("ascii")
            source = f"data:image/svg+xml;base64,{data}"  # as an image nothing in it runs
            caption = html.escape(block.caption)
            return f'<figure><img alt="{caption}" src="{source}"><figcaption>{caption}</figcaption></figure>'


def _cell(cell: Cell) -> str:
    classes = _classes(cell.text, cell.mood, "number" if cell.is_number else "")
    return f"<td{_class(classes)}>{html.escape(cell.text)}</td>"


def _classes(text: str, *names: str) -> str:
    """Those of a cell; a short text is never broken."""
    return " ".join(name for name in (*names, "short" if 0 < len(text) <= _SHORT else "") if name)


def _class(names: str) -> str:
    return f' class="{names}"' if names else ""


def _marked(block: Heading | Paragraph | Code | Table) -> str:
    match block:
        case Heading():
            return f"{'#' * block.level} {_plain(block.text)}"
        case Paragraph():
            return _plain(block.text)
        case Code():
            longest = max((len(found) for found in _FENCE.findall(block.text)), default=2)
            fence = "`" * max(3, longest + 1)
            return f"{fence}spice\n{block.text}\n{fence}"
        case Table():
            lines = [block.head, tuple("---:" if cell.is_number else "---" for cell in _first(block))]
            lines += [tuple(_plain(cell.text) for cell in row) for row in block.rows]
            return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _first(table: Table) -> Sequence[Cell]:
    return table.rows[0] if table.rows else tuple(Cell("") for _ in table.head)


def _plain(text: str) -> str:
    """Text that Markdown shows as it is."""
    return _SPECIAL.sub(r"\\\1", text)
