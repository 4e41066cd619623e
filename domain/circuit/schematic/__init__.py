"""A schematic drawn from a netlist: roles of elements, columns, a search for places, wires, a display list.

`drawing.draw` is the door. The page shows one scope: the top level or one subcircuit; X elements are boxes.
Coordinates are whole grid units (a resistor is 4 long), x to the right, y down.
"""
