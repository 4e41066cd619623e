"""Language, theme and size of the window: chosen in the menus, in force at once, remembered."""

from __future__ import annotations

from collections.abc import Callable

from application.project.window_state import WindowLanguage, WindowState
from presentation.actions.window_rows import ZOOMS
from presentation.ui.language import LanguageManager, LanguageName
from presentation.ui.theme import Mode, ThemeManager
from presentation.window.commands import Commands


class Appearance:
    """`keep` remembers a change of the window's state."""

    def __init__(self, theme: ThemeManager, language: LanguageManager, keep: Callable[..., None]) -> None:
        self._theme = theme
        self._language = language
        self._keep = keep

    def set_language(self, name: LanguageName) -> None:
        """English or Chinese, at once and from now on."""
        self._language.set(name)
        self._keep(language=name)

    def follow_language(self, chosen: WindowLanguage, resolved: str) -> None:
        """What the settings say: a language, or "auto", which is now the `resolved` one."""
        self._language.set("zh" if resolved == "zh" else "en")
        self._keep(language=chosen)

    def set_theme(self, mode: Mode) -> None:
        """Light, dark, or as the system, at once and from now on."""
        self._theme.set_mode(mode)
        self._keep(theme=mode)

    def toggle_contrast(self) -> None:
        """High contrast in either theme."""
        self._theme.set_contrast(is_high=not self._theme.wants_contrast)
        self._keep(high_contrast=self._theme.wants_contrast)

    def set_scale(self, scale: float) -> None:
        self._theme.set_mode(self._theme.mode, scale=scale)
        self._keep(scale=scale)

    def zoom(self, step: int) -> None:
        """The next larger (1) or smaller (-1) of the sizes; 0: 100 %."""
        now = round(self._theme.theme.scale * 100)
        larger, smaller = [size for size in ZOOMS if size > now], [size for size in ZOOMS if size < now]
        found = larger[:1] if step > 0 else smaller[-1:] if step else [100]
        if found:
            self.set_scale(found[0] / 100)

    def bring_back(self, state: WindowState) -> None:
        if state.language != "auto":
            self._language.set(state.language)
        if (state.theme, state.scale) != (self._theme.mode, self._theme.theme.scale):
            self._theme.set_mode(state.theme, scale=state.scale)
        self._theme.set_contrast(is_high=state.high_contrast)

    def check(self, commands: Commands) -> None:
        theme, language = self._theme, self._language
        for name, is_on in (
            *((f"theme.{mode}", theme.mode == mode) for mode in ("light", "dark", "system")),
            *((f"language.{name}", language.name == name) for name in ("en", "zh")),
            *((f"scale.{size}", round(theme.theme.scale * 100) == size) for size in ZOOMS),
        ):
            commands.action(name).setChecked(is_on)
        commands.action("contrast").setChecked(theme.wants_contrast)
