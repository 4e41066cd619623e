"""The widget kit: look, language, and the small widgets that panels, dialogs and the window share."""
