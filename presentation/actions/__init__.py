"""What a person can do in the window, as one table: names, keys, places in the menus."""
