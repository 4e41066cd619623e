"""Opens the dialogs of the menus; each is imported when it is first wanted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PyQt6.QtWidgets import QWidget

from presentation.ui.workspace import WindowServices
from presentation.window.panels import Parts

if TYPE_CHECKING:
    from application.groups.conversations import Conversations
    from application.groups.models import Models
    from application.groups.project import Project


def show_prompts(services: WindowServices, conversations: Conversations, window: QWidget) -> None:
    from presentation.dialogs.prompt_editor.dialog import PromptSettingsDialog

    root = services.workspace.root
    PromptSettingsDialog(services, conversations.prompts, project=root, parent=window).open()


def show_model_settings(parts: Parts, window: QWidget) -> None:
    """The dialog of the models; the conversation uses what is saved there."""
    from presentation.dialogs.model_settings.dialog import ModelSettingsDialog

    dialog = ModelSettingsDialog(parts.services, parts.app.models, parent=window)
    dialog.saved.connect(parts.conversation.model.set_choice)
    dialog.open()


def show_permissions(services: WindowServices, conversations: Conversations, window: QWidget) -> None:
    from presentation.dialogs.permissions import PermissionsDialog

    root = services.workspace.root
    if root is not None:
        PermissionsDialog(services, conversations, root, window).open()


def show_embedding(services: WindowServices, models: Models, project: Project, window: QWidget) -> None:
    """The server of vectors for searches by meaning."""
    from presentation.dialogs.model_settings.embedding_dialog import EmbeddingDialog

    EmbeddingDialog(services, models, project, window).open()
