"""Entry: a folder opens the window, a sub-command runs on the command line."""

from __future__ import annotations

import sys

import bootstrap
from presentation.cli import entry

if __name__ == "__main__":
    sys.exit(entry.main(sys.argv[1:], bootstrap.build))
