"""Opens the dialogs of the menus; each is imported when it is first wanted."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from presentation.window.main_window import MainWindow


def show_prompts(window: MainWindow) -> None:
    """The dialog of the prompts."""
    from presentation.dialogs.prompt_editor.dialog import PromptSettingsDialog

    services = window.services
    PromptSettingsDialog(
        services, services.app.prompts, project=services.workspace.root, parent=window
    ).open()


def show_model_settings(window: MainWindow) -> None:
    """The dialog of the models; the conversation uses what is saved there."""
    from presentation.dialogs.model_settings.dialog import ModelSettingsDialog
    from presentation.panels.conversation.panel import ConversationPanel

    dialog = ModelSettingsDialog(window.services, parent=window)
    conversation = window.panes.conversation
    if isinstance(conversation, ConversationPanel):
        dialog.saved.connect(conversation.model.set_choice)
    dialog.open()


def show_permissions(window: MainWindow) -> None:
    """The rules of the open project."""
    from presentation.dialogs.permissions import PermissionsDialog

    root = window.services.workspace.root
    if root is not None:
        PermissionsDialog(window.services, root, window).open()


def show_embedding(window: MainWindow) -> None:
    """The server of vectors for searches by meaning."""
    from presentation.dialogs.model_settings.embedding_dialog import EmbeddingDialog

    EmbeddingDialog(window.services, window).open()
