"""Writes raw files as LTspice, QSPICE and Xyce do, from their documented layouts.

LTspice: text in UTF-16LE; the axis 8 bytes, other real numbers 4 bytes unless the flag "double" is set,
complex numbers 16 bytes each, the frequency too; "FastAccess": one variable after the other.
QSPICE: text in UTF-8, everything 8 bytes, a complex plot's frequency alone real.
Xyce: title and date once, steps as plots of their own with their values in the name.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

Columns = Sequence[tuple[str, str, np.ndarray]]
"""(name, kind, numbers)"""


def ltspice(
    columns: Columns,
    *,
    plot: str = "Transient Analysis",
    flags: str = "real forward",
    offset: float = 0.0,
    is_ascii: bool = False,
    encoding: str = "utf-16-le",
) -> bytes:
    """A file of LTspice XVII or 24 (IV with `encoding` "utf-8")."""
    count = len(columns[0][2])
    head = [
        "Title: * C:\\work\\µ-drive.asc",
        "Date: Tue Jul 25 12:15:28 2023",
        f"Plotname: {plot}",
        f"Flags: {flags}",
        f"No. Variables: {len(columns)}",
        f"No. Points: {count:12d}",
        f"Offset: {offset:.16e}",
        "Command: Linear Technology Corporation LTspice XVII",
        "Backannotation: u1 1 2 3",
        "Backannotation: u2 4 5",
        "Variables:",
        *(f"\t{i}\t{name}\t{kind}" for i, (name, kind, _) in enumerate(columns)),
        "Values:" if is_ascii else "Binary:",
    ]
    text = ("\n".join(head) + "\n").encode(encoding)
    if is_ascii:
        return text + _values(columns, count).encode(encoding)
    return text + _binary(columns, flags)


def _binary(columns: Columns, flags: str) -> bytes:
    if "complex" in flags:
        types = ["<c16"] * len(columns)
    else:
        types = ["<f8"] + ["<f8" if "double" in flags else "<f4"] * (len(columns) - 1)
    arrays = [data.astype(kind) for (_, _, data), kind in zip(columns, types, strict=True)]
    if "fastaccess" in flags.lower():
        return b"".join(array.tobytes() for array in arrays)
    table = np.empty(len(arrays[0]), dtype=[(str(i), kind) for i, kind in enumerate(types)])
    for i, array in enumerate(arrays):
        table[str(i)] = array
    return table.tobytes()


def _values(columns: Columns, count: int) -> str:
    lines = []
    for row in range(count):
        for i, (_, _, data) in enumerate(columns):
            number = data[row]
            text = f"{number.real:.15e},{number.imag:.15e}" if np.iscomplexobj(data) else f"{number:.15e}"
            lines.append(f"{row}\t\t{text}" if i == 0 else f"\t{text}")
    return "\n".join(lines) + "\n"


def qspice(columns: Columns, *, plot: str, flags: str) -> bytes:
    """A file of QSPICE, with its lines of parameters and aliases."""
    head = [
        "Title: * d:\\qspice\\rc.cir",
        "Date: Mon Feb 17 10:00:00 2025",
        f"Plotname: {plot}",
        f"Flags: {flags}",
        f"No. Variables: {len(columns)}",
        f"No. Points: {len(columns[0][2])}",
        "Command: QSPICE80, Build Jan 17 2025",
        ".param temp=27",
        ".alias I(R1) (0.001mho*V(in,out))",
        "Variables:",
        *(f"\t{i}\t{name}\t{kind}" for i, (name, kind, _) in enumerate(columns)),
        "Binary:",
    ]
    types = ["<f8"] + ["<c16" if "complex" in flags else "<f8"] * (len(columns) - 1)
    table = np.empty(len(columns[0][2]), dtype=[(str(i), kind) for i, kind in enumerate(types)])
    for i, (_, _, data) in enumerate(columns):
        table[str(i)] = data
    return ("\n".join(head) + "\n").encode() + table.tobytes()


def xyce(
    columns: Columns,
    *,
    plot: str,
    flags: str = "real",
    is_ascii: bool = False,
    is_first: bool = True,
    points: object = None,
) -> bytes:
    """One plot of Xyce; of a file's later plots without title and date."""
    count = len(columns[0][2])
    claimed = count if points is None else points
    head = ["Title: spice", "Date: Wed Jul 30 09:05:45 2025"] if is_first else []
    head += [
        f"Plotname: {plot}",
        f"Flags: {flags}",
        f"No. Variables: {len(columns)}",
        f"No. Points: {claimed!s:18}",
        "Variables:",
        *(f"\t{i}\t{name}\t{kind}" for i, (name, kind, _) in enumerate(columns)),
        "Values:" if is_ascii else "Binary:",
    ]
    text = ("\n".join(head) + "\n").encode()
    if not is_ascii:
        kind = "<c16" if "complex" in flags else "<f8"
        return text + np.column_stack([data.astype(kind) for _, _, data in columns]).tobytes()
    lines = []
    for row in range(count):
        for i, (_, _, data) in enumerate(columns):
            number = data[row]
            # Xyce puts a blank behind the comma of a complex number.
            shown = f"{number.real:.8e}, {number.imag:.8e}" if "complex" in flags else f"{number:.8e}"
            lines.append(f"{row}\t{shown}" if i == 0 else f"\t{shown}")
        lines.append("")
    return text + ("\n".join(lines) + "\n").encode()
