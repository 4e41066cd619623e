"""What a circuit's commands had altered when each plot was made: ``tran2`` with ``r1=2k``.

ngspice numbers the plots of an `alter` loop and keeps no word of what was altered. Here the commands are
followed, as far as they can be without running them: in order, `foreach` loops over written values unrolled.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import takewhile

from domain.circuit.control_blocks import KEEP_NAME, ControlCommand, commands_of_file
from domain.circuit.netlist import Netlist
from domain.circuit.numbers import read_number

_MAKES = {
    "op": ("op",), "dc": ("dc",), "ac": ("ac",), "tran": ("tran",), "noise": ("noise", "noise"),
    "tf": ("tf",), "sens": ("sens",), "pz": ("pz",), "sp": ("sp",), "linearize": ("tran",), "fft": ("sp",),
}  # fmt: skip
"""Commands that make plots, and how ngspice 39 begins the plots' names."""
_UNKNOWN_COURSE = frozenset((
    "while", "dowhile", "repeat", "if", "else", "goto", "label", "break", "continue", "source", "rerun",
    "load", "disto", "pss", "resume", "stop", "step", "spec", "psd", "destroy", "alterparam", "quit", "exit",
))  # fmt: skip
"""Commands after which it is not known which plots there are, or what a value is."""
_MOST_COMMANDS = 20_000
_MOST_NAMED = 3


def altered_values(netlist: Netlist, made: Sequence[str]) -> dict[str, str]:
    """The name of each plot -> what was altered before, ``r1=2k, c1=1n``; {} where that cannot be told.

    `made`: the names of the plots ngspice has made, in their order. Only when following the commands leads to
    the very same names is anything said of them.
    """
    commands = tuple(takewhile(lambda command: not _keeps(command), commands_of_file(netlist)))
    if not any(command.name in ("alter", "altermod") for command in commands):
        return {}
    cards = [kind for kind in _MAKES for _ in netlist.directives(kind)]
    named: dict[str, str] = {}
    values: dict[str, str] = {}
    number = 1
    try:
        for name, words in _followed(commands):
            if name in ("alter", "altermod"):
                _alter(words, values)
            elif name == "reset":
                values.clear()
            kinds = _MAKES.get(cards[0] if name == "run" and len(cards) == 1 else name, ())
            if name == "run" and len(cards) != 1:
                return {}
            for kind in kinds:
                while f"{kind}{number}" in named:
                    number += 1
                named[f"{kind}{number}"] = ", ".join(
                    f"{target}={value}" for target, value in list(values.items())[-_MOST_NAMED:]
                )
    except _NotFollowed:
        return {}
    if list(named) != list(made):
        return {}
    return {plot: text for plot, text in named.items() if text}


def _keeps(command: ControlCommand) -> bool:
    """The command of ours, at the end or in place of a `quit`, that writes the plots."""
    return command.name == "source" and command.words[-1].startswith(KEEP_NAME.removesuffix(".cmd"))


class _NotFollowed(Exception):
    """The commands' course depends on what is computed."""


def _followed(commands: Sequence[ControlCommand]) -> Iterator[tuple[str, list[str]]]:
    """The commands as they are run, the variables of `foreach` put in."""
    left = _MOST_COMMANDS

    def block(start: int, stop: int, variables: dict[str, str]) -> Iterator[tuple[str, list[str]]]:
        nonlocal left
        at = start
        while at < stop:
            command = commands[at]
            left -= 1
            if command.name in _UNKNOWN_COURSE or not left:
                raise _NotFollowed
            if command.name == "foreach":
                end = _end_of(commands, at, stop)
                variable, *rest = command.words[1:] or ("",)
                for value in rest:
                    if "$" in value or "(" in value:
                        raise _NotFollowed
                    yield from block(at + 1, end, {**variables, variable: value})
                at = end
            elif command.name != "end":
                yield command.name, [_put_in(word, variables) for word in command.words]
            at += 1

    yield from block(0, len(commands), {})


def _end_of(commands: Sequence[ControlCommand], at: int, stop: int) -> int:
    depth = 0
    for place in range(at, stop):
        depth += commands[place].name == "foreach"
        depth -= commands[place].name == "end"
        if depth == 0:
            return place
    raise _NotFollowed


def _put_in(word: str, variables: dict[str, str]) -> str:
    for name in sorted(variables, key=len, reverse=True):
        word = word.replace(f"${{{name}}}", variables[name]).replace(f"${name}", variables[name])
    return word


def _alter(words: Sequence[str], values: dict[str, str]) -> None:
    """Note an `alter` of one number; of a computed value or a list nothing is known."""
    target, has_sign, value = " ".join(words[1:]).partition("=")
    if not has_sign:
        target, _, value = target.strip().rpartition(" ")
    target, value = " ".join(target.split()).lower(), value.strip()
    values.pop(target, None)
    if target and read_number(value) is not None:
        values[target] = value
