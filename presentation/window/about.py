"""What menus open: the keys, what works on this machine, what the program is, the dialogs of settings.

Each dialog is imported when it is first wanted.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PyQt6.QtCore import QUrl
from PyQt6.QtGui import QDesktopServices
from PyQt6.QtWidgets import QWidget

from application.groups.conversations import Conversations
from application.groups.models import Models
from application.groups.program import Program
from application.groups.project import Project
from presentation import VERSION
from presentation.actions.action import Scope
from presentation.ui import questions
from presentation.ui.machine import name_of_point
from presentation.ui.parts import push_button
from presentation.ui.workspace import WindowServices
from presentation.window.panels import Parts
from shared.message import msg

if TYPE_CHECKING:
    from application.app import Application

_LICENCE = Path(__file__).resolve().parents[2] / "LICENSE"
_MARKS = {"ok": "✓", "warning": "!", "missing": "✗", "unused": "·"}


def show_keys(
    services: WindowServices, program: Program, window: QWidget, scope: Scope | None = None
) -> None:
    """The card of keys, of one place or of all."""
    from presentation.dialogs.key_card import KeyCard

    KeyCard(services, program.user_keys, window, scope).open()


def show_guide(services: WindowServices, window: QWidget, *, is_tutorial: bool = False) -> None:
    """The user guide, or the tutorial; from there the references."""
    from presentation.dialogs.guide import GUIDE, TUTORIAL, GuideDialog

    dialog = GuideDialog(services, window)
    dialog.open()
    dialog.go(TUTORIAL if is_tutorial else GUIDE)


def show_doctor(services: WindowServices, program: Program, window: QWidget) -> None:
    """What works on this machine; it takes some seconds to find out."""
    services.workspace.status_changed.emit(msg("Checking system"))
    services.start(_examine(services, program, window), kind="examine")


async def _examine(services: WindowServices, program: Program, window: QWidget) -> None:
    report = await program.examine()
    rows = []
    for finding in report.findings:
        name, told = services.language(name_of_point(finding.name)), services.language(finding.message)
        rows.append(f"{_MARKS[finding.state]} {name}: {told}")
        if finding.advice is not None:
            rows.append(f"    {services.language(finding.advice)}")
    rows.append("")
    rows.append(
        services.language(
            msg("Circuits can be simulated here.")
            if report.can_simulate
            else msg("Circuits cannot be simulated here until the items marked ✗ are fixed.")
        )
    )
    services.workspace.status_changed.emit(msg("System check finished"))
    questions.tell(services, window, title=msg("This computer"), text="\n".join(rows), copies=True)


def show_about(services: WindowServices, window: QWidget) -> None:
    """What this program is: version, licence, what it is made of."""
    language = services.language
    lines = [
        language(
            msg("An open environment for SPICE design with an assistant whose every step can be undone.")
        ),
        "",
        language(msg("Version {version}", version=VERSION)),
        language(msg("Free software under the GNU General Public License, version 3, without any warranty.")),
        language(msg("Simulates with ngspice. Typefaces: Inter, JetBrains Mono (OFL); icons: Lucide (ISC).")),
    ]
    licence = push_button(
        language(msg("Read the license")),
        clicked=lambda: QDesktopServices.openUrl(QUrl.fromLocalFile(str(_LICENCE))),
        kind="link",
    )
    questions.tell(
        services,
        window,
        title=msg("About Circuit Design AI"),
        text="\n".join(lines),
        copies=True,
        below=licence,
    )


def show_prompts(services: WindowServices, conversations: Conversations, window: QWidget) -> None:
    from presentation.dialogs.prompt_editor.dialog import PromptSettingsDialog

    root = services.workspace.root
    PromptSettingsDialog(services, conversations.prompts, project=root, parent=window).open()


def show_model_settings(parts: Parts, window: QWidget) -> None:
    """The dialog of the models; the conversation uses what is saved there."""
    from presentation.dialogs.model_settings.dialog import ModelSettingsDialog

    dialog = ModelSettingsDialog(parts.services, parts.app.models, parent=window)
    dialog.saved.connect(parts.conversation.set_choice)
    dialog.open()


def show_settings(
    services: WindowServices, app: Application, window: QWidget, changed: Callable[[str, Any], None]
) -> None:
    from presentation.dialogs.settings.dialog import SettingsDialog

    SettingsDialog(
        services,
        app.program.preferences,
        app.project.clean,
        window,
        servers=lambda: app.conversations.tool_servers,
        changed=changed,
    ).open()


def show_permissions(services: WindowServices, conversations: Conversations, window: QWidget) -> None:
    from presentation.dialogs.permissions import PermissionsDialog

    root = services.workspace.root
    if root is not None:
        PermissionsDialog(services, conversations, root, window).open()


def show_embedding(services: WindowServices, models: Models, project: Project, window: QWidget) -> None:
    """The server of vectors for searches by meaning."""
    from presentation.dialogs.model_settings.embedding_dialog import EmbeddingDialog

    EmbeddingDialog(services, models, project, window).open()
