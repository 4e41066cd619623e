"""Circuits: the lossless netlist, its elements, values and units, dependencies, diagnostics."""
