"""What calls that wait for a permission would do to circuits: one wrapped line beside the buttons."""

from __future__ import annotations

from presentation.panels.conversation import blocks as b
from presentation.preview_words import Tone, lines_of
from presentation.ui.previews import Preview
from shared.message import msg

_KINDS: dict[Tone, tuple[str, str]] = {
    "met": ("won", "ok.text"),
    "missed": ("lost", "error.text"),
    "problem": ("lost", "error.text"),
    "plain": ("", ""),
    "head": ("dim", "text.tertiary"),
}
"""Look and colour."""


def previewed(preview: Preview | None) -> b.Blocks:
    """Nothing for calls that concern no circuit."""
    if preview is None:
        return ()
    if preview.state == "working":
        spinner = b.Spinner(msg("Simulating the change"))
        return (b.Para("preview", (spinner, b.Text(msg("Simulating the change…"), "dim"))),)
    parts: list[b.Node] = []
    if preview.change is not None:
        for line in lines_of(preview.change):
            kind, tone = _KINDS[line.tone]
            parts += [b.Text("\u2003"), b.Text(line.text, kind, tone)]
    if preview.reason is not None:
        parts += [b.Text("\u2003"), b.Text(preview.reason, "dim")]
    blocks: list[b.Node] = []
    if parts:
        blocks.append(b.Para("preview", (b.Text(msg("With this change:"), "label"), *parts)))
    if preview.state == "asks":
        button = b.Button(
            act="preview", label=msg("Preview"), tip=msg("Simulate the change before you answer")
        )
        blocks.append(b.Buttons((button,)))
    return tuple(blocks)
