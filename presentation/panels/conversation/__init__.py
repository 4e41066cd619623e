"""The conversation: what was said and done, and where the next thing is said.

`items` is what is shown, `view_model` its state and intents (no Qt), `web_view` and `plain_view` two
ways to show it, `panel` the widget.
"""
