"""Entry of the installed program: `circuit-design-ai`, `python -m circuit_design_ai`."""

import runpy
import sys
from pathlib import Path

PROGRAM = Path(__file__).resolve().parent / "program"


def main() -> None:
    """Run the program as `main.py` runs from its sources."""
    sys.path.insert(0, str(PROGRAM))
    runpy.run_path(str(PROGRAM / "main.py"), run_name="__main__")


if __name__ == "__main__":
    main()
