"""Quotations as models misremember them, held against an oracle of its own: never a wrong edit.

The oracle knows which lines were meant. It shares nothing with the code under test: a patch that is
applied has to be the text in which exactly those lines are exchanged, byte for byte.
"""

import random
import re

from domain.llm.tools.patching import PatchOutcome, apply_patch
from tests.ground.campaign import campaigns
from tests.ground.cases import for_each

ENDS = ("\n", "\n", "\n", "\r\n", "\r\n", "mixed")


def element(rng, number):
    name = f"{rng.choice('RCL')}{rng.choice([number, number, number % 5])}"
    nodes = " ".join(rng.choice(("in", "out", "0", "n1", "n2", "in+", "vdd!")) for _ in range(2))
    value = f"{rng.choice((1, 1, 2, 10, 4.7))}{rng.choice(('k', 'n', 'u', 'k5'))}"
    return f"{name} {nodes} {value}"


def deck(rng):
    """Lines of a deck that repeats itself as real ones do."""
    lines = ["* deck"]
    for block in range(rng.randrange(1, 5)):
        name = rng.choice(("stage", "stage2", "bias"))
        body = [element(rng, number) for number in range(rng.randrange(1, 6))]
        if rng.random() < 0.3 and block:
            body = list(lines[2:5])
        if rng.random() < 0.4:
            body.insert(rng.randrange(len(body) + 1), rng.choice(("*", "* bias", "")))
        if rng.random() < 0.3:
            body += ["M1 out in 0 0 nmos", "+ W=1u L=1u", f"+ AD={rng.randrange(9)}p"]
        indent = rng.choice(("", "", "  ", "\t"))
        lines += [
            f".subckt {name} in out",
            *(indent + line for line in body),
            rng.choice((".ends", f".ends {name}")),
        ]
    lines += [element(rng, 90 + k) + rng.choice(("", "  ")) for k in range(rng.randrange(4))]
    return [*lines, ".end"]


def with_ends(rng, lines, ends):
    pieces = [line + (rng.choice(("\n", "\r\n")) if ends == "mixed" else ends) for line in lines]
    if rng.random() < 0.2:
        pieces[-1] = pieces[-1].rstrip("\r\n")
    return pieces


def blanks_only(rng, lines):
    """The same fields, other white space (and line ends)."""
    kind = rng.choice(("trailing", "end", "indent", "crlf", "none", "inner", "tabs", "edges"))
    if kind == "trailing":
        lines = [line + rng.choice(("", " ", "\t ")) for line in lines]
    elif kind == "indent":
        shift = rng.choice(("    ", "\t", " "))
        lines = [shift + line if line.strip() else line for line in lines]
    elif kind == "inner":
        lines = [re.sub(r"(?<=\S) (?=\S)", lambda _: rng.choice((" ", "  ")), line) for line in lines]
    elif kind == "tabs":
        lines = [re.sub(r"(?<=\S) (?=\S)", "\t", line) for line in lines]
    text = ("\r\n" if kind == "crlf" else "\n").join(lines)
    if kind in ("end", "trailing", "crlf"):
        text += "\r\n" if kind == "crlf" else "\n"
    if kind == "edges":
        text = f"\n{text}\n\n"
    return text


def wrong(rng, lines):
    """Something else than what was meant, by one slip of memory."""
    lines = list(lines)
    spot = rng.randrange(len(lines))
    kind = rng.choice(("digit", "case", "dropped", "added", "cut", "neighbour"))
    if kind == "digit":
        lines[spot] = re.sub(r"\d", lambda found: str((int(found[0]) + 1) % 10), lines[spot], count=1)
    elif kind == "case":
        lines[spot] = lines[spot].swapcase()
    elif kind == "dropped" and len(lines) > 2:
        del lines[1]
    elif kind == "added":
        lines.insert(spot, "R77 n7 n8 1k")
    elif kind == "cut":
        lines[-1] = lines[-1][:-1]
    elif kind == "neighbour":
        lines[spot] = rng.choice((".ends", "*", lines[0]))
    return "\n".join(lines)


def fields(line):
    return re.sub(r"\s*([(),=])\s*", r"\1", " ".join(line.split()))


def places_of(lines, quoted):
    """First lines of all places whose fields are the quotation's, blank lines around it apart."""
    wanted = [fields(line) for line in re.split(r"\r\n|\n", quoted)]
    while wanted and not wanted[0]:
        del wanted[0]
    while wanted and not wanted[-1]:
        del wanted[-1]
    have = [fields(line) for line in lines]
    return [k for k in range(len(have) - len(wanted) + 1) if have[k : k + len(wanted)] == wanted], len(wanted)


def a_case(rng):
    lines = deck(rng)
    pieces = with_ends(rng, lines, rng.choice(ENDS))
    start = rng.randrange(len(lines))
    while not lines[start].strip():
        start += 1
    block = lines[start : start + rng.randrange(1, 5)]
    while not block[-1].strip():
        del block[-1]
    return lines, pieces, start, block


def end_of(piece):
    return piece[len(piece.rstrip("\r\n")) :]


@campaigns(fast=500, whole=5000)
def test_other_white_space_is_found_at_the_right_place_or_refused(campaign, capsys):
    applied = unique = 0
    for rng in campaign.cases():
        lines, pieces, _, block = a_case(rng)
        search = blanks_only(rng, block)
        places, count = places_of(lines, search)
        fuzzy = rng.random() < 0.7
        outcome = apply_patch("".join(pieces), search, "Z1 z z 1", fuzzy=fuzzy)
        unique += fuzzy and len(places) == 1
        if isinstance(outcome, PatchOutcome):
            rights = [right_texts(pieces, place, count) for place in places]
            assert any(outcome.text in texts for texts in rights), (search, outcome.text)
            assert len(places) == 1 or is_literal(lines, search), (search, outcome.text, places)
            applied += fuzzy and len(places) == 1
    with capsys.disabled():
        print(f"\n  other white space: {applied} of {unique} unique quotations applied ", end="")
    if campaign.only is None:
        assert applied >= 0.95 * unique


def right_texts(pieces, start, count):
    """The oracle's texts: whole lines exchanged.

    Blank lines that were quoted with it may go; indentation and white space at the end may stay; the new
    line has an end that one of the old ones had, and none where the last one had none.
    """
    first, last = pieces[start].rstrip("\r\n"), pieces[start + count - 1].rstrip("\r\n")
    heads = {first[:k] for k in range(len(first) - len(first.lstrip()) + 1)}
    tails = {"", last[len(last.rstrip()) :]}
    extra = {"", " ", "\t", "    "}  # what the quotation was moved by, where it was taken as it is
    ends = {end_of(piece) for piece in pieces[start : start + count]}
    if not end_of(pieces[start + count - 1]):
        ends = {""}
    blank_before = start - 1 if start and not pieces[start - 1].strip() else start
    stop = start + count
    blank_after = stop + 1 if stop < len(pieces) and not pieces[stop].strip() else stop
    return {
        "".join([*pieces[:before], head, "Z1 z z 1", tail, end, *pieces[after:]])
        for before in (start, blank_before)
        for after in (stop, blank_after)
        for head in heads | extra
        for tail in tails
        for end in ends
    }


def is_literal(lines, search):
    """Whether the quoted lines stand there only once as they are: then looser twins don't matter."""
    text = "\n".join(lines) + "\n"
    if text.count(search.replace("\r\n", "\n")) == 1:
        return True
    wanted = [line.rstrip() for line in search.replace("\r\n", "\n").strip("\n").split("\n")]
    have = [line.rstrip() for line in lines]
    same = [k for k in range(len(have)) if have[k : k + len(wanted)] == wanted]
    bare = [k for k in range(len(have)) if is_moved(have[k : k + len(wanted)], wanted)]
    return len(same) == 1 or len(bare) == 1


def is_moved(lines, wanted):
    """Whether one indentation added to, or taken from, every line makes the two equal."""
    pairs = [(one, other) for one, other in zip(lines, wanted, strict=False) if other]
    if len(lines) != len(wanted) or not pairs:
        return False
    more = len(pairs[0][0]) - len(pairs[0][1])
    heads = {
        (one[:more], one[more:] == other) if more >= 0 else (other[:-more], other[-more:] == one)
        for one, other in pairs
    }
    return len(heads) == 1 and all(not head.strip() and is_same for head, is_same in heads)


@campaigns(fast=500, whole=5000)
def test_a_wrong_quotation_is_refused_or_stands_elsewhere_word_for_word(campaign):
    for rng in campaign.cases():
        lines, pieces, _, block = a_case(rng)
        search = wrong(rng, block)
        text = "".join(pieces)
        outcome = apply_patch(text, search, "Z1 z z 1", fuzzy=rng.random() < 0.5)
        if not isinstance(outcome, PatchOutcome):
            continue
        # Applied: then the quotation is really there, in whole fields, and only there.
        head, tail = common_head(text, outcome.text), common_head(text[::-1], outcome.text[::-1])
        removed = text[head : len(text) - tail] if head + tail <= len(text) else ""
        first = text.count("\n", 0, head)
        last = first + removed.count("\n")
        there = "\n".join(line.strip() for line in lines[first : last + 1])
        assert fields_of(search) in fields_of(there), (search, outcome)
        assert surroundings_are_boundaries(fields_of(there), fields_of(search)), (search, outcome)


def fields_of(text):
    """The lines' fields; blank lines between them don't count, as with fuzzy."""
    return "\n".join(fields(line) for line in text.strip().splitlines() if line.strip())


def surroundings_are_boundaries(there, search):
    """Somewhere in `there` the quotation stands between blanks, brackets or the ends of a line."""
    return re.search(rf"(?:^|[\s(),=]|^\+){re.escape(search)}(?=$|[\s(),=])", there, re.MULTILINE) is not None


def common_head(one, other):
    return next(
        (k for k, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other))
    )


@campaigns(fast=200, whole=3000)
def test_context_that_stays_keeps_every_byte(campaign):
    """Search and replace share lines; only those that differ may change, whatever surrounds them."""
    for rng in campaign.cases():
        _, pieces, _, block = a_case(rng)
        spot = rng.randrange(len(block))
        new = list(block)
        new[spot] = "Z1 z z 1"
        search = blanks_only(rng, block)
        mutated_new = search.replace("\r\n", "\n").split("\n")
        offset = next((k for k, line in enumerate(mutated_new) if line.strip()), 0)
        mutated_new[spot + offset] = "Z1 z z 1"
        outcome = apply_patch("".join(pieces), search, "\n".join(mutated_new), fuzzy=True)
        if isinstance(outcome, PatchOutcome):
            after = re.findall(r"[^\n]*\n|[^\n]+", outcome.text)
            assert len(after) == len(pieces), (search, mutated_new)
            changed = [k for k, (a, b) in enumerate(zip(pieces, after, strict=True)) if a != b]
            assert len(changed) <= 1, (search, mutated_new, changed)


@for_each("seed", range(20))
def test_any_texts_at_all_never_crash_and_keep_what_is_around(seed):
    rng = random.Random(seed)
    for _ in range(200):
        text = "".join(rng.choice(" \t\n\r\n+*aR1k.=\ufeff") for _ in range(rng.randrange(40)))
        start = rng.randrange(len(text) + 1)
        search = rng.choice((text[start : start + rng.randrange(12)], "R1 a", "\n"))
        options = {"occurrence": rng.choice((None, 0, 1, 2)), "fuzzy": rng.random() < 0.5}
        outcome = apply_patch(text, search, rng.choice(("", "z", "z\n", "\nz", "z\r\nz")), **options)
        if isinstance(outcome, PatchOutcome):
            assert outcome.text != text
            assert all(line >= 1 for line in outcome.lines)
        else:
            assert outcome.explanation
