"""Theme, style sheets, icons, typefaces: every name resolves, in both themes, at every scale."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from PyQt6 import sip
from PyQt6.QtCore import QCoreApplication, QEvent, Qt
from PyQt6.QtGui import QColor, QFocusEvent, QFontInfo, QIcon, QPalette
from PyQt6.QtTest import QTest
from PyQt6.QtWidgets import QApplication, QDialog, QHBoxLayout, QLineEdit, QPushButton, QToolButton, QWidget

from presentation.look import drawings, tokens
from presentation.ui.icons import UnknownIcon
from presentation.ui.styles import FOLDER as STYLES
from presentation.ui.styles import FONTS, UnknownToken, load_fonts, mark, palette, style_sheet
from presentation.ui.theme import Theme, ThemeManager
from scripts.draw_style_images import PICTURES, picture

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("name", ["light", "dark"])
@pytest.mark.parametrize("scale", [0.8, 1.25, 2.0])
def test_every_hole_of_the_style_sheets_is_filled(qapp, name, scale):
    text = style_sheet(Theme(name, scale))
    assert "@" not in text
    for path in re.findall(r"url\(([^)]*)\)", text):
        assert Path(path).is_file(), path


def test_a_wrong_name_in_a_style_sheet_is_named(qapp):
    with pytest.raises(UnknownToken, match=r"@surface\.bse"):
        style_sheet(Theme("light"), "QWidget { background: @surface.bse; }")
    with pytest.raises(UnknownToken, match="@row"):
        style_sheet(Theme("light"), "QWidget { height: @row; }")


def test_holes_are_colours_sizes_and_type(qapp):
    text = style_sheet(
        Theme("light", 2.0),
        "a: @accent.base; b: @surface.scrim; c: @row.menu; d: @inside(control.height); e: @trace.0;"
        " @font(small) f: @ringed(control.height)",
    )
    assert "a: #1f62c7; b: #52" in text
    assert "c: 52px; d: 54px; e: #4170e9" in text
    assert "f: 52px" in text
    assert 'font-family: "Inter"' in text
    assert "font-size: 24px; font-weight: 400" in text


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_pictures_of_the_style_sheets_are_those_of_the_tokens(theme):
    files = {path.stem: path.read_text("utf-8") for path in (STYLES / "images" / theme).glob("*.svg")}
    assert files == {name: picture(name, theme) for name in PICTURES}, "run scripts/draw_style_images.py"


def test_no_style_sheet_holds_a_colour_of_its_own():
    for path in STYLES.glob("*.qss"):
        assert not re.findall(r"#[0-9A-Fa-f]{3,8}\b|rgba?\(", path.read_text("utf-8")), path.name


def test_the_theme_is_switched_live(qapp, services):
    button = QPushButton("Run")
    mark(button, kind="primary")
    button.resize(80, 28)
    button.show()

    def shown() -> str:
        return button.grab().toImage().pixelColor(10, 14).name()

    light = shown()
    services.theme.set_mode("dark")
    assert light == Theme("light").hex("accent.base").lower()
    assert shown() == Theme("dark").hex("accent.base").lower()
    assert qapp.palette().color(QPalette.ColorRole.Window) == Theme("dark").color("surface.panel")
    button.close()


async def test_the_scale_reaches_fonts_and_controls(qapp, services):
    field = QLineEdit()
    field.show()
    before = field.sizeHint().height()
    services.theme.set_mode("light", scale=2.0)
    assert qapp.font().pixelSize() == 26
    assert before == 28
    assert field.sizeHint().height() == pytest.approx(56, abs=2)
    field.close()


def test_one_change_is_one_event(qapp):
    theme = ThemeManager("light")
    heard = []
    theme.changed.connect(heard.append)
    theme.set_mode("light")
    theme.set_mode("dark")
    theme.set_mode("dark", scale=1.0)
    assert heard == [Theme("dark")]


def test_the_palette_has_no_colour_of_fusion_left(qapp):
    wanted = {color.lower() for color in _hex_colors(tokens()["theme"]["dark"])}
    made = palette(Theme("dark"))
    roles = [role for role in QPalette.ColorRole if role.name not in ("NColorRoles", "NoRole")]
    strange = {
        role.name for role in roles if made.color(QPalette.ColorGroup.Active, role).name() not in wanted
    }
    assert strange == set()


def _hex_colors(value) -> list[str]:
    if isinstance(value, dict):
        return [color for part in value.values() for color in _hex_colors(part)]
    if isinstance(value, list):
        return [color for part in value for color in _hex_colors(part)]
    return [value] if value.startswith("#") else []


async def test_icons_take_the_colour_of_the_theme(services):
    def color_of(icon: QIcon, mode: QIcon.Mode = QIcon.Mode.Normal) -> str:
        image = icon.pixmap(16, 16, mode).toImage()
        pixels = [image.pixelColor(x, y) for x in range(16) for y in range(16)]
        return max(pixels, key=QColor.alpha).name()

    assert color_of(services.icons.get("square", "error.icon")) == Theme("light").hex("error.icon").lower()
    disabled = color_of(services.icons.get("square"), QIcon.Mode.Disabled)
    assert disabled == Theme("light").hex("text.disabled").lower()
    services.theme.set_mode("dark")
    assert color_of(services.icons.get("square", "error.icon")) == Theme("dark").hex("error.icon").lower()


async def test_icons_are_sharp_at_every_ratio(services):
    for ratio in (1.0, 1.25, 1.5, 2.0, 3.0):
        pixmap = services.icons.pixmap("play", size=16, ratio=ratio)
        assert pixmap.size().width() == round(16 * ratio)
        assert pixmap.devicePixelRatio() == pytest.approx(ratio)


async def test_an_icon_that_is_not_there_is_named(services):
    with pytest.raises(UnknownIcon, match=r"floppy: there is no floppy\.svg"):
        services.icons.get("floppy")


def test_every_icon_named_in_the_code_is_there():
    used = re.compile(r"icons\.(?:get|pixmap)\(\s*\"([a-z0-9-]+)\"")
    for path in (ROOT / "presentation").rglob("*.py"):
        for name in used.findall(path.read_text("utf-8")):
            assert name in drawings(), f"{path.name}: {name}"


def test_every_icon_can_be_coloured_and_the_notice_is_shipped():
    for name, text in drawings().items():
        assert 'stroke="currentColor"' in text, name
    assert "ISC" in (ROOT / "resources" / "icons" / "LICENSE").read_text("utf-8")


def test_the_bundled_faces_are_in_force(qapp):
    assert load_fonts() == ()
    for style, family in (("ui", "Inter"), ("ui_strong", "Inter"), ("mono", "JetBrains Mono")):
        assert QFontInfo(Theme("light").font(style)).family() == family
    assert sum(path.stat().st_size for path in FONTS.glob("*.ttf")) < 400_000
    assert {path.name for path in FONTS.glob("*LICENSE*")} == {
        "Inter-LICENSE.txt",
        "JetBrainsMono-LICENSE.txt",
    }


def test_a_file_that_is_no_typeface_is_told(qapp, tmp_path):
    broken = tmp_path / "broken.ttf"
    broken.write_bytes(b"no typeface")
    assert load_fonts(tmp_path) == (broken,)


async def test_only_the_keyboard_draws_the_ring(services, until):
    window = QWidget()
    row = QHBoxLayout(window)
    first, second = QPushButton("Run"), QPushButton("Stop")
    for button in (first, second):
        row.addWidget(button)
    window.show()
    window.activateWindow()
    await until(window.isActiveWindow)
    assert not any(button.property("kbdFocus") for button in (first, second))
    for button, reason, expected in (
        (first, Qt.FocusReason.MouseFocusReason, False),
        (second, Qt.FocusReason.TabFocusReason, True),
        (first, Qt.FocusReason.OtherFocusReason, False),
        (second, Qt.FocusReason.BacktabFocusReason, True),
        (first, Qt.FocusReason.ShortcutFocusReason, True),
    ):
        button.setFocus(reason)
        assert [bool(each.property("kbdFocus")) for each in (first, second)] == [
            expected and each is button for each in (first, second)
        ], reason
    # Of the focus that goes and comes back with a menu or with the window nothing is drawn.
    for kind, reason in (("FocusOut", "Popup"), ("FocusIn", "Popup")):
        event = QFocusEvent(QEvent.Type[kind], Qt.FocusReason[f"{reason}FocusReason"])
        QApplication.sendEvent(first, event)
        assert first.property("kbdFocus") is False
    first.clearFocus()
    QTest.keyClick(window, Qt.Key.Key_Tab)  # the first key in a window where nothing had the focus
    assert [bool(each.property("kbdFocus")) for each in (first, second)] == [
        first.hasFocus(),
        second.hasFocus(),
    ]
    assert first.hasFocus() or second.hasFocus()
    second.setFocus(Qt.FocusReason.TabFocusReason)
    sip.delete(second)
    first.setFocus(Qt.FocusReason.MouseFocusReason)
    assert not first.property("kbdFocus")
    window.deleteLater()


@pytest.mark.parametrize("words", ["", "fake-model"])
async def test_the_ring_takes_no_room(services, words):
    """What stands around a button doesn't jump when the keyboard comes by."""
    button = QToolButton()
    button.setIcon(services.icons.get("paperclip", "text.secondary", 16))
    if words:
        button.setText(words)
        button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        mark(button, text=True)
    mark(button, kbdFocus=False)
    before = button.sizeHint()
    mark(button, kbdFocus=True)
    assert button.sizeHint() == before


async def test_a_dialog_has_an_edge_of_its_own(services, until):
    dialog = QDialog()
    QHBoxLayout(dialog).addWidget(QPushButton("Close"))
    dialog.show()
    await until(lambda: dialog.contentsMargins().left() == 1)
    assert dialog.testAttribute(Qt.WidgetAttribute.WA_StyledBackground)
    dialog.deleteLater()


async def test_the_language_is_switched_without_the_disk(services):
    from shared.message import msg

    heard = []
    services.language.changed.connect(heard.append)
    assert services.language(msg("Close")) == "Close"
    services.language.set("zh")
    assert services.language(msg("Close")) == "关闭"
    assert QCoreApplication.translate("QFileDialog", "Look in:") == "查找范围："  # Qt's own words too
    services.language.set("en")
    assert QCoreApplication.translate("QFileDialog", "Look in:") == "Look in:"
    assert heard == ["zh", "en"]


def _light_of(color: str) -> float:
    """Relative luminance, WCAG 2."""
    parts = (int(color[at : at + 2], 16) / 255 for at in (1, 3, 5))
    red, green, blue = (
        part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _contrast(one: str, other: str) -> float:
    dark, light = sorted((_light_of(one), _light_of(other)))
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize(("is_high", "least"), [(False, 4.5), (True, 7.0)])
@pytest.mark.parametrize("name", ["light", "dark"])
def test_texts_can_be_read_on_what_they_stand_on(name, is_high, least):
    """With high contrast quiet ones as others, and outlines are seen; what is disabled may be weaker."""
    theme = Theme(name, is_high_contrast=is_high)
    states = ("accent", "ok", "warn", "error", "info", "running")
    colored = ["text.link", *(f"{state}.text" for state in states)]
    colored += [f"syntax.{part}" for part in tokens()["theme"][name]["syntax"]]
    pairs = [(text, f"surface.{on}", 4.5) for text in colored for on in ("base", "sunken")]
    surfaces = ("chrome", "panel", "base", "raised", "sunken", "hover", "selected", "selected_inactive")
    quiet = ("text.primary", "text.secondary", "text.tertiary")
    pairs += [(text, f"surface.{on}", least) for text in quiet for on in surfaces]
    pairs += [("plot.axis_text", "plot.background", least)]
    pairs += [(f"{state}.text", f"{state}.subtle", 4.5) for state in states]
    pairs += [(f"{state}.on", f"{state}.{'base' if state == 'accent' else 'fill'}", 4.5) for state in states]
    pairs += [
        (f"diff.{kind}_text", f"diff.{kind}_{on}", 4.5) for kind in ("add", "del") for on in ("bg", "word")
    ]
    pairs += [("focus_ring", "surface.base", 3.0)]
    pairs += [(f"border.{line}", "surface.base", 3.0) for line in ("subtle", "default", "divider") if is_high]
    found = [(text, on, _contrast(theme.hex(text), theme.hex(on)), least) for text, on, least in pairs]
    assert [row for row in found if row[2] < row[3]] == []
