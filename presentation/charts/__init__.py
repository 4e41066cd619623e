"""Charts of figures: what they show, their axes, and a drawing of them without a window."""
