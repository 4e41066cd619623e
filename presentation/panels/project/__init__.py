"""The left pane: the project's files, its results, and the outline of the shown netlist."""
