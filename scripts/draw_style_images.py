"""Draw the pictures the style sheets need, in each theme's colours, from resources/icons.

    python scripts/draw_style_images.py

Style sheets of Qt take pictures from files only. Run after a change of `tokens.json`; a test compares
them with it.
"""

from __future__ import annotations

import json
from pathlib import Path

RESOURCES = Path(__file__).resolve().parents[1] / "resources"
PICTURES = {
    "chevron-down": ("chevron-down", "text.secondary", 2.0),
    "chevron-up": ("chevron-up", "text.secondary", 2.0),
    "chevron-left": ("chevron-left", "text.secondary", 2.0),
    "chevron-right": ("chevron-right", "text.secondary", 2.0),
    "check": ("check", "accent.on", 3.0),
    "check-text": ("check", "text.primary", 2.0),
    "minus": ("minus", "accent.on", 3.0),
    "dot": ("circle", "accent.base", 14.0),
    "x": ("x", "text.secondary", 2.0),
}
"""By name: the icon, its colour among the tokens, the width of its stroke on the 24 grid."""


def picture(name: str, theme: str) -> str:
    """The SVG text of one picture."""
    icon, color, stroke = PICTURES[name]
    tokens = json.loads((RESOURCES / "look" / "tokens.json").read_text("utf-8"))
    value = tokens["theme"][theme]
    for part in color.split("."):
        value = value[part]
    text = (RESOURCES / "icons" / f"{icon}.svg").read_text("utf-8")
    text = text.replace("currentColor", value).replace('stroke-width="2"', f'stroke-width="{stroke:g}"')
    # A radio button's dot: a small circle whose stroke fills it.
    return text.replace('r="10"', 'r="3.5"').replace("14", "7") if icon == "circle" else text


def main() -> None:
    """Write all pictures of both themes."""
    for theme in ("light", "dark"):
        folder = RESOURCES / "styles" / "images" / theme
        folder.mkdir(parents=True, exist_ok=True)
        for name in PICTURES:
            (folder / f"{name}.svg").write_text(picture(name, theme), encoding="utf-8")


if __name__ == "__main__":
    main()
