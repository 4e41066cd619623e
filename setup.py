"""What of the sources goes into the wheel, and where: `python -m build --wheel`, `pip wheel .`.

The program's rooms (`shared`, `domain` ...) are top-level names only among themselves. In a wheel they lie in
one folder, `circuit_design_ai/program`, so that no other package meets them; `circuit_design_ai.__main__`
puts that folder on the path. `parents[n]` of a module leads to `resources` there as here.
"""

from pathlib import Path

from setuptools import find_packages, setup
from setuptools.command.build_py import build_py

ROOT = Path(__file__).resolve().parent
ROOMS = ("shared", "domain", "application", "infrastructure", "presentation", "composition")
NAME, PROGRAM = "circuit_design_ai", "circuit_design_ai.program"


class BuildProgram(build_py):
    """Without this file, which lies beside the program's entry."""

    def find_package_modules(self, package: str, package_dir: str) -> list[tuple[str, str, str]]:
        """(package, module, file) of each module."""
        found = super().find_package_modules(package, package_dir)
        return [each for each in found if (package, each[1]) != (PROGRAM, "setup")]


def needed(name: str) -> list[str]:
    """The packages that a file of requirements pins, without what it refers to."""
    lines = (
        line.split("#", 1)[0].strip() for line in (ROOT / "requirements" / name).read_text().splitlines()
    )
    return [line for line in lines if line and not line.startswith("-")]


packages = find_packages(str(ROOT), include=[pattern for room in ROOMS for pattern in (room, f"{room}.*")])
setup(
    packages=[NAME, PROGRAM, *(f"{PROGRAM}.{package}" for package in packages)],
    package_dir={
        NAME: f"packaging/{NAME}",
        PROGRAM: ".",
        **{f"{PROGRAM}.{package}": package.replace(".", "/") for package in packages},
    },
    package_data={PROGRAM: ["resources/**/*", "docs/*.md", "docs/pictures/tutorial-*.png", "LICENSE"]},
    cmdclass={"build_py": BuildProgram},
    install_requires=[*needed("core.in"), *needed("window.in")],
    entry_points={"console_scripts": [f"circuit-design-ai = {NAME}.__main__:main"]},
    data_files=[
        ("share/applications", ["packaging/circuit-design-ai.desktop"]),
        ("share/icons/hicolor/scalable/apps", ["packaging/circuit-design-ai.svg"]),
    ],
)
