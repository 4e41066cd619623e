"""The lists of the set-up: names that a package manager can know."""

import re

from scripts.setup import LEVELS

_NAME = re.compile(r"[a-zA-Z0-9][a-zA-Z0-9+.@-]*[a-zA-Z0-9+]")


def test_every_package_has_a_name_a_package_manager_can_know():
    for level in LEVELS.values():
        for program in level.programs:
            for packages in program.packages.values():
                for name in packages.split():
                    assert _NAME.fullmatch(name), name


def test_the_window_is_tested_with_what_it_runs_on():
    window, dev = ({program.name for program in LEVELS[level].programs} for level in ("window", "dev"))
    assert window < dev
    assert {"libxcb-cursor0", "libxcb-glx0", "libxcb-icccm4", "fonts-wqy-microhei"} <= window
    assert "xvfb" in dev
