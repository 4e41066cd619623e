"""Colours, sizes and drawings as data, for whoever shows something; without Qt.

Colours and sizes stand in ``resources/look/tokens.json`` and nowhere else.
"""

from __future__ import annotations

import json
from functools import cache, partial
from pathlib import Path
from typing import Any, Literal

ThemeName = Literal["light", "dark"]

_RESOURCES = Path(__file__).resolve().parents[1] / "resources"
TOKENS = _RESOURCES / "look" / "tokens.json"
ICONS = _RESOURCES / "icons"


@cache
def tokens() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(TOKENS.read_text("utf-8"))
    return found


@cache
def drawings() -> dict[str, str]:
    """The SVG text of each icon by its Lucide name."""
    return {path.stem: path.read_text("utf-8") for path in ICONS.glob("*.svg")}


@cache
def hex_of(theme: ThemeName, name: str, *, is_high_contrast: bool = False) -> str:
    """A colour of a theme by its dotted name; for high contrast some are those of others."""
    value: Any = tokens()["theme"][theme]
    for part in (tokens()["high_contrast"].get(name, name) if is_high_contrast else name).split("."):
        value = value[int(part)] if isinstance(value, list) else value[part]
    return str(value)


@cache
def size_of(name: str, scale: float) -> int:
    """A size in logical pixels by its dotted name."""
    value: Any = tokens()
    for part in name.split("."):
        value = value[part]
    return round(float(value) * scale)


def css_variables(theme: ThemeName, scale: float = 1.0, *, is_high_contrast: bool = False) -> dict[str, str]:
    """The tokens as CSS variables: ``--surface-base``, ``--space-2``."""
    found: dict[str, str] = {}
    color = partial(hex_of, theme, is_high_contrast=is_high_contrast)
    for group, values in tokens()["theme"][theme].items():
        if isinstance(values, dict):
            found |= {f"--{group}-{name}": color(f"{group}.{name}") for name in values}
        elif isinstance(values, list):
            found |= {f"--{group}-{n}": color(f"{group}.{n}") for n in range(len(values))}
        elif isinstance(values, str):
            found[f"--{group}"] = color(group)
    for group in ("space", "radius", "row", "control", "margin_bar", "icon", "pane"):
        for name, value in tokens()[group].items():
            if isinstance(value, int | float) and not isinstance(value, bool):
                found[f"--{group}-{name}"] = f"{size_of(f'{group}.{name}', scale)}px"
    for name, kind in tokens()["type"].items():
        if isinstance(kind, dict):
            found[f"--type-{name}-px"] = f"{size_of(f'type.{name}.px', scale)}px"
            found[f"--type-{name}-line"] = f"{size_of(f'type.{name}.line', scale)}px"
    for name, value in tokens()["duration_ms"].items():
        found[f"--duration_ms-{name}"] = f"{value}ms" if isinstance(value, int) else str(value)
    fonts = tokens()["font"]
    for name in ("ui", "mono"):
        families = [*fonts[name], *fonts[f"{name}_cjk"]]
        found[f"--font-{name}"] = ", ".join(
            family if family in ("monospace", "sans-serif") else f'"{family}"' for family in families
        )
    return found
