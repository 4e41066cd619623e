"""Texts for the clipboard of the system."""

from __future__ import annotations

from PyQt6.QtGui import QGuiApplication


def copy_text(text: str) -> None:
    """Put a text there; nothing happens on a platform without a clipboard."""
    clipboard = QGuiApplication.clipboard()
    if clipboard is not None:
        clipboard.setText(text)
