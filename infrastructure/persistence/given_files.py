"""Reading a file that a person has named, anywhere on the machine."""

from __future__ import annotations

import os
from pathlib import Path

from infrastructure.persistence.confined import NotRegular, TooLarge, read_problem, read_regular_file
from shared.errors import UserInputError
from shared.message import Message, msg


def read_given(path: Path, most: int, *, advice: Message | None = None) -> bytes:
    """Its bytes; a link is followed, a pipe never waited for. `advice`: for what is no file.

    Raises UserInputError, EnvironmentProblem, TooLarge over `most` bytes.
    """
    try:
        return read_regular_file(Path(os.path.realpath(path)), max_bytes=most)
    except FileNotFoundError as error:
        raise UserInputError(
            msg("File {path} does not exist.", path=path),
            advice=msg("Check the name; it is case-sensitive."),
            file=path,
            error_type="file_not_found",
        ) from error
    except (NotRegular, IsADirectoryError, NotADirectoryError) as error:
        raise UserInputError(
            msg("{path} is not a regular file.", path=path),
            advice=advice,
            file=path,
            error_type="not_a_file",
        ) from error
    except TooLarge:
        raise
    except OSError as error:
        raise read_problem(error, path) from error
