"""The schematic of the circuit in front: drawn from its netlist, following while one types."""
