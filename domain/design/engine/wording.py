"""The sentences all declared families share: what is missing, out of range, assumed, out of reach."""

from __future__ import annotations

from collections.abc import Sequence

from domain.circuit.figures import told_apart
from domain.design.understanding import impossible, missing_goal
from shared.errors import CircuitError
from shared.message import Message, msg


def missing(label: Message, example: str) -> CircuitError:
    """A quantity the design cannot do without."""
    return missing_goal(
        msg("The request does not give the {label}.", label=label),
        msg("Add it, for example: {label} {example}.", label=label, example=example),
    )


def figure(label: Message, text: str | Message) -> Message:
    """A quantity or a choice with what it is now."""
    return msg("{label} {text}", label=label, text=text)


def changed_as_asked(told: list[Message]) -> Message:
    """What a sentence changed of a design beside its goals."""
    return msg("Changed as asked: {what}.", what=joined(told))


def out_of_range(label: Message, given: str, low: str, high: str, example: str) -> CircuitError:
    """A quantity beyond what can be designed."""
    return impossible(
        msg(
            "A value of {given} for the {label} is out of range ({low} to {high}).",
            label=label,
            given=given,
            low=low,
            high=high,
        ),
        msg("Choose a value in that range, for example: {label} {example}.", label=label, example=example),
    )


def not_whole(label: Message, given: str, example: str) -> CircuitError:
    return impossible(
        msg("The {label} must be a whole number, not {given}.", label=label, given=given),
        msg("Choose a value in that range, for example: {label} {example}.", label=label, example=example),
    )


def wrong_limit(label: Message, example: str, *, is_lower: bool) -> CircuitError:
    """An upper limit asked of what can only be given a lower one, or the other way round."""
    if is_lower:
        return impossible(
            msg("The {label} can only be a lower limit.", label=label),
            msg("Ask for at least that much, for example: {label} at least {example}.", label=label,
                example=example),
        )  # fmt: skip
    return impossible(
        msg("The {label} can only be an upper limit.", label=label),
        msg(
            "Ask for at most that much, for example: {label} at most {example}.", label=label, example=example
        ),
    )


def unreachable(label: Message, wanted: str, reached: str, advice: Message) -> CircuitError:
    """No parts that can be bought give what was asked."""
    return impossible(
        msg("The {label} cannot be {wanted}; the limit is {reached}.", label=label, wanted=wanted,
            reached=reached),
        advice,
    )  # fmt: skip


def beyond(
    label: Message, unit: str, wanted: float, reached: float, advice: Message, *, digits: int = 3
) -> CircuitError:
    """The same of two figures, with as many digits as tell them apart."""
    asked, limit = told_apart(unit, wanted, reached, digits=digits)
    return unreachable(label, asked, limit, advice)


def both(label: Message, first: Message, second: Message) -> CircuitError:
    """Two options at once."""
    return impossible(
        msg("Both {first} and {second} were given as the {label}.", label=label, first=first, second=second),
        msg("Name only one of them."),
    )


def which_of_two(label: Message, first: str, second: str) -> CircuitError:
    """Two numbers that may both be the same quantity."""
    return missing_goal(
        msg("Two values may be the {label}: “{first}” and “{second}”.", label=label, first=first,
            second=second),
        msg("Name only one of them, or what the other one is."),
    )  # fmt: skip


def assumed(label: Message, value: Message | str) -> Message:
    return msg("No {label} given; {value} assumed.", label=label, value=value)


KIND_ASSUMED = msg("Neither low-pass nor high-pass was specified; a low-pass is designed.")
ASSUMED = assumed(Message(""), "").template


def not_named(one: Message) -> Message:
    """The kind of circuit is a guess."""
    return msg("The circuit was not named; {circuit} is designed.", circuit=one)


def taken_for(one: Message, words: Sequence[str]) -> Message:
    """The same, with the words that speak for it."""
    return msg(
        "The circuit was not named; {circuit} is designed because of: {words}.",
        circuit=one, words=(", " if any(map(str.isascii, words)) else "、").join(words),
    )  # fmt: skip


def joined(items: list[Message]) -> Message:
    """A list in one message, halves of halves: it is stored, and what is nested deep is not read again."""
    if len(items) == 1:
        return items[0]
    half = (len(items) + 1) // 2
    return msg("{before}; {item}", before=joined(items[:half]), item=joined(items[half:]))
