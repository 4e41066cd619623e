"""2,000 misremembered quotations of real decks, doubled so that they repeat themselves: not one wrong edit.

The oracle knows which lines were meant and shares nothing with the code under test: outside of them every
character has to stay, and between them has to stand what was asked for. A quotation that also fits
elsewhere is to be refused, unless it stands there letter by letter only once.
"""

from __future__ import annotations

import random
import re
from functools import cache
from pathlib import Path

from domain.llm.tools.patching import PatchOutcome, apply_patch
from tests.ground.campaign import Campaign, campaigns

CORPUS = Path(__file__).parents[2] / "corpus"
WITHOUT_FUZZY = ("as it is", "trailing", "line ends", "last end", "indent", "edges")
FUZZY = ("ragged", "tabs", "inner", "marks", "blank lines", "no blank lines")
WRONG = ("digit", "case", "line lost", "line added", "cut", "swapped", "twin", "name")


@cache
def decks() -> tuple[tuple[str, ...], ...]:
    """The lines of the corpus' decks."""
    found = []
    for path in sorted(CORPUS.rglob("*.cir")):
        lines = path.read_bytes().decode("latin-1").replace("\r\n", "\n").split("\n")[:-1]
        if 5 <= len(lines) <= 400 and not any("\r" in line for line in lines):
            found.append(tuple(lines))
    assert len(found) > 20
    return tuple(found)


def a_deck(rng: random.Random) -> list[str]:
    """A real deck, some of its stretches once more as a subcircuit: all ``.ends`` and ``*`` look the same."""
    lines = list(rng.choice(decks()))
    for number in range(rng.randrange(4)):
        start = rng.randrange(len(lines))
        body = lines[start : start + rng.randrange(1, 12)]
        shift = rng.choice(("", "", "  ", "\t"))
        place = rng.randrange(1, len(lines) + 1)
        block = [f".subckt twin{number % 2} a b", *(shift + line for line in body), "*", ".ends"]
        lines[place:place] = block
    return lines


def squeezed(lines: list[str]) -> list[str]:
    """The lines that are not blank, without any white space."""
    return [line for line in ("".join(line.split()) for line in lines) if line]


def places_of(lines: list[str], wanted: list[str]) -> int:
    have = squeezed(lines)
    return sum(have[k : k + len(wanted)] == wanted for k in range(len(have) - len(wanted) + 1))


def with_other_blanks(rng: random.Random, block: list[str], kind: str) -> str:
    end = "\r\n" if kind == "line ends" else "\n"
    if kind == "trailing":
        block = [line.rstrip() + rng.choice(("", " ", "\t", "   ")) for line in block]
    elif kind == "indent":
        shift = rng.choice(("  ", "\t", "    "))
        block = [shift + line if line.strip() else line for line in block]
    elif kind == "ragged":
        block = [rng.choice(("", " ", "\t", "   ")) + line.lstrip() for line in block]
    elif kind in ("tabs", "inner"):
        new = "\t" if kind == "tabs" else "   "
        block = [re.sub(r"(?<=\S)[ \t]+(?=\S)", new, line) for line in block]
    elif kind == "marks":
        block = [re.sub(r"\s*([=,(){}])\s*", rng.choice((r"\1", r" \1 ")), line) for line in block]
    elif kind == "blank lines":
        block = [piece for line in block for piece in ([line, ""] if rng.random() < 0.4 else [line])]
    elif kind == "no blank lines":
        block = [line for line in block if line.strip()]
    text = end.join(block)
    if kind == "last end" or (kind == "line ends" and rng.random() < 0.5):
        text += end
    return f"\n{text}\n\n" if kind == "edges" else text


def with_a_slip(rng: random.Random, lines: list[str], block: list[str], kind: str) -> str:
    spot = rng.randrange(len(block))
    block = list(block)
    if kind == "digit":
        block[spot] = re.sub(r"\d", lambda found: str((int(found[0]) + 1) % 10), block[spot], count=1)
    elif kind == "case":
        block[spot] = block[spot].swapcase()
    elif kind == "line lost" and len(block) > 2:
        del block[1]
    elif kind == "line added":
        block.insert(spot, rng.choice((".ends", "*", "R99 a b 1k")))
    elif kind == "cut":
        block[-1] = block[-1].rstrip()[:-1]
    elif kind == "swapped" and len(block) > 1:
        block[0], block[1] = block[1], block[0]
    elif kind == "twin":
        block[spot] = rng.choice(lines)
    elif kind == "name":
        block[spot] = re.sub(r"^\s*(\S+)", r"\g<1>x", block[spot])
    return "\n".join(block)


def a_block(rng: random.Random, lines: list[str]) -> tuple[int, int]:
    """First line and the one behind the last; neither is blank."""
    while True:
        start = rng.randrange(len(lines))
        stop = min(start + rng.choice((1, 1, 2, 3, 4, 6, 9)), len(lines))
        if lines[start].strip() and lines[stop - 1].strip():
            return start, stop


@campaigns(fast=250, whole=2000)
def test_not_one_wrong_edit(campaign: Campaign, capsys) -> None:
    counts = {"meant": 0, "applied": 0, "slips": 0, "slips applied": 0}
    for rng in campaign.cases():
        lines = a_deck(rng)
        ends = [rng.choice(("\n", "\r\n"))] * len(lines)
        if rng.random() < 0.2:
            ends = [rng.choice(("\n", "\r\n")) for _ in lines]
        if rng.random() < 0.2:
            ends[-1] = ""
        pieces = [line + end for line, end in zip(lines, ends, strict=True)]
        text = "".join(pieces)
        start, stop = a_block(rng, lines)
        block = lines[start:stop]
        is_slip = rng.random() < 0.35
        kind = rng.choice(WRONG) if is_slip else rng.choice((*WITHOUT_FUZZY, *FUZZY))
        search = with_a_slip(rng, lines, block, kind) if is_slip else with_other_blanks(rng, block, kind)
        new = ["Z1 new 0 1", "* changed"]
        fuzzy = kind in FUZZY or (is_slip and rng.random() < 0.5)
        outcome = apply_patch(text, search, "\n".join(new), fuzzy=fuzzy)
        wanted = squeezed(search.replace("\r\n", "\n").split("\n"))
        fits = places_of(lines, wanted)
        if not is_slip:
            counts["meant"] += fits == 1
            counts["applied"] += fits == 1 and isinstance(outcome, PatchOutcome)
        counts["slips"] += is_slip and fits == 0
        if not isinstance(outcome, PatchOutcome):
            assert outcome.explanation
            continue
        where = (campaign.case, kind, search)
        if (
            fits == 0
        ):  # not whole lines: then it stands there letter by letter, once, and only it was exchanged
            counts["slips applied"] += 1
            plain, quoted = text.replace("\r\n", "\n"), search.replace("\r\n", "\n").strip("\n")
            assert plain.count(quoted) >= 1, where
            at = plain.find(quoted)
            assert outcome.text.replace("\r\n", "\n").startswith(plain[:at].rstrip(" \t\n")), where
            continue
        if is_slip or fits == 1:
            starts = [k for k in range(len(lines)) if lines[k].strip() and begins_with(lines[k:], wanted)]
        else:
            starts = [start]
        stops = [
            next(k for k in range(at, len(lines)) if squeezed(lines[at : k + 1]) == wanted) for at in starts
        ]
        is_at = [
            is_exchanged(outcome.text, "".join(pieces[:at]), "".join(pieces[stop + 1 :]), new)
            for at, stop in zip(starts, stops, strict=True)
        ]
        assert any(is_at) or (fits > 1 and is_literal_once(text, search)), where
        assert fits == 1 or not is_slip or is_closest_once(lines, search), where
    with capsys.disabled():
        print(f"\n  real decks: {counts['applied']} of {counts['meant']} unique quotations with other blanks "
              f"applied; of {counts['slips']} with a slip {counts['slips applied']} "
              "stood there as parts of lines ", end="")  # fmt: skip
    if campaign.only is None:
        assert counts["applied"] >= 0.95 * counts["meant"]


def begins_with(lines: list[str], wanted: list[str]) -> bool:
    return squeezed(lines)[: len(wanted)] == wanted


def is_exchanged(text: str, before: str, after: str, new: list[str]) -> bool:
    """Whether `new` stands between the two; blank lines that were quoted with it may be gone."""
    before, after = before.rstrip(), after.lstrip()
    is_kept = text.startswith(before) and text.endswith(after) and len(text) >= len(before) + len(after)
    return is_kept and squeezed(text[len(before) : len(text) - len(after)].splitlines()) == squeezed(new)


def is_literal_once(text: str, search: str) -> bool:
    """Whether the quotation stands there letter by letter only once: then that is the place that counts."""
    plain, quoted = text.replace("\r\n", "\n"), search.replace("\r\n", "\n")
    if plain.count(quoted) == 1 or plain.count(quoted.strip("\n")) == 1:
        return True
    return f"\n{plain}\n".count(f"\n{quoted.strip(chr(10))}\n") == 1  # as whole lines


def is_closest_once(lines: list[str], search: str) -> bool:
    """Whether one stricter reading than "blanks apart" has a quotation with twins in one place only."""
    rows = search.replace("\r\n", "\n").strip("\n").split("\n")
    if is_literal_once("\n".join(lines) + "\n", search):
        return True
    for reading in (str.rstrip, moved_to_the_margin, str.split):
        counts = 0
        for k in range(len(lines) - len(rows) + 1):
            have = lines[k : k + len(rows)]
            if reading is moved_to_the_margin:
                counts += moved_to_the_margin(have) == moved_to_the_margin(rows)
            else:
                counts += [reading(row) for row in have] == [reading(row) for row in rows]
        if counts:
            return counts == 1
    return False


def moved_to_the_margin(rows: list[str]) -> list[str]:
    full = [row for row in rows if row.strip()]
    shared = min((len(row) - len(row.lstrip()) for row in full), default=0)
    return [row[shared:].rstrip() if row.strip() else "" for row in rows]
