"""Whether the machine runs on its battery, as the kernel tells it."""

from __future__ import annotations

from pathlib import Path

SUPPLIES = Path("/sys/class/power_supply")


def is_on_battery(supplies: Path = SUPPLIES) -> bool:
    """True where a battery is being discharged and no mains is connected; a machine without one is not.

    Blocking, for less than a millisecond. Never raises: a kernel that does not tell counts as mains.
    Source: Documentation/ABI/testing/sysfs-class-power of the Linux kernel.
    """
    try:
        found = [(_read(each / "type"), each) for each in supplies.iterdir()]
    except OSError:
        return False
    has_mains = any(kind in ("Mains", "USB") and _read(each / "online") == "1" for kind, each in found)
    discharges = any(kind == "Battery" and _read(each / "status") == "Discharging" for kind, each in found)
    return discharges and not has_mains


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii", errors="replace").strip()
    except OSError:  # a supply that lacks this property
        return ""
