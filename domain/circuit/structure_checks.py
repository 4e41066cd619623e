"""Checks of files and block structure: what has to fit before the circuit can be understood at all."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator, Set
from itertools import pairwise

from domain.circuit.analyses import ANALYSIS_KINDS, analysis_problem, has_empty_sweep, has_idle_sweep
from domain.circuit.cards import assignments_of
from domain.circuit.dependencies import DependencyTree
from domain.circuit.dialects import is_device_of_qspice
from domain.circuit.elements import SHAPES, parse_element
from domain.circuit.findings import Findings, Severity
from domain.circuit.foreign_forms import foreign_form
from domain.circuit.netlist import Netlist
from domain.circuit.numbers import joined_value, read_number
from domain.circuit.placed import Placed
from domain.circuit.sound_lines import SoundLines
from domain.circuit.statements import DEEPEST, Field, Statement
from shared.late_patterns import late_pattern
from shared.message import Message, msg

DIRECTIVES = ANALYSIS_KINDS | {
    "four", "meas", "print", "plot", "probe", "save", "width", "options", "nodeset", "ic", "param",
    "func", "global", "temp", "title", "csparam", "model", "subckt", "ends", "include", "lib", "endl",
    "end", "control", "endc", "if", "elseif", "else", "endif", "prot", "unprot", "incpslt",
}  # fmt: skip
"""What ngspice 39 takes without complaint, as tried; all else is an error to it."""
_SWALLOWED_DIRECTIVE = re.compile(r"\s*\.(?!end\b|endc\b|control\b)\w")
_SWALLOWED_ELEMENT = re.compile(r"\s*[rclvidqmjx]\w*\d\w*(?:\s+[\w.+-]+){3}", re.IGNORECASE)
"""Cards that a block without end takes for commands."""


def check_files(tree: DependencyTree, findings: Findings) -> bool:
    """Includes that could not be followed, encodings, line ends. False when a file is no text at all."""
    for refusal in tree.refusals:
        is_missing = refusal.refusal.reason == "missing"
        findings.add(
            "error",
            "include-missing" if is_missing else "include-refused",
            refusal.message,
            file=refusal.file,
            at=refusal,
        )
    for missing in tree.missing_sections:
        params = {"section": missing.section, "path": missing.target.name}
        findings.add(
            "error",
            "lib-section-missing",
            msg("Section {section} of {path} has no .endl. Add it after the section.", **params)
            if missing.unclosed
            else msg("{path} has no section {section}. Correct the name.", **params),
            file=missing.file,
            at=missing,
        )
    for cycle in tree.cycles:
        findings.add("error", "include-cycle", cycle.message, file=cycle.file, at=cycle)
    is_text = True
    for netlist in (tree.root, *tree.files.values()):
        if _is_binary(netlist.to_bytes()):
            message = msg("This is not a text file and so not a netlist. Choose the right file.")
            findings.add("error", "encoding", message, file=netlist.path, at=1)
            is_text = False
        else:
            _check_bytes(netlist, findings)
    return is_text


_CONTROL_BYTES = bytes({*range(9), *range(14, 27), *range(28, 32)})


def _is_binary(data: bytes) -> bool:
    """More than a few bytes, and one in fifty, are control characters; UTF-16 is told by its mark instead."""
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return False
    strange = len(data) - len(data.translate(None, _CONTROL_BYTES))
    return strange > 8 and strange * 50 > len(data)


def _check_bytes(netlist: Netlist, findings: Findings) -> None:
    data = netlist.to_bytes()
    if netlist.encoding == "utf-16":
        message = msg("The file is UTF-16, which ngspice cannot read. Save it as UTF-8.")
        findings.add("error", "encoding", message, file=netlist.path, at=1)
        return
    if b"\r" in data and b"\n" not in data and len(netlist.source.lines) > 1:
        message = msg(
            "The lines end in CR alone, which ngspice does not recognize. Save the file with LF or CRLF."
        )
        findings.add("error", "line-ends", message, file=netlist.path, at=1)
    elif lone := re.search(rb"\r(?!\r*\n|\r*$)", data):
        message = msg(
            "ngspice does not treat a lone CR as a line end: what follows is read as part of this line."
        )
        line = data.count(b"\n", 0, lone.start()) + 1
        findings.add("error", "line-ends", message, file=netlist.path, at=line)
    for statement in netlist.statements:
        is_card = statement.kind in {"element", "directive"}
        if is_card and not statement.raw.isascii() and _check_non_ascii(netlist, statement, findings):
            return


_NAMES_FILES = frozenset({"include", "lib"})


def _check_non_ascii(netlist: Netlist, statement: Statement, findings: Findings) -> bool:
    """True when ngspice stops here."""
    raw = statement.raw.encode("latin-1")
    if not (_is_utf8(raw) or _is_utf8(raw.replace(b"\xb5", b"u"))):  # a Latin-1 micro sign is understood
        message = msg(
            "This card contains characters that are not UTF-8; ngspice stops at them. Save the file as UTF-8."
        )
        findings.add("error", "encoding", message, file=netlist.path, at=statement)
        return True
    if statement.keyword in _NAMES_FILES:  # no result has a file's name
        return False
    for word in statement.words:
        if any(ord(c) > 127 and c not in "µμΩ°" for c in word.text) and not word.text.startswith(('"', "'")):
            message = msg(
                "ngspice replaces the characters of {name} with underscores in its results.", name=word.text
            )
            findings.add("info", "non-ascii-name", message, file=netlist.path, at=word)
            break
    return False


def _is_utf8(raw: bytes) -> bool:
    try:
        raw.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


_SOUND = SoundLines()


def check_structure(tree: DependencyTree, findings: Findings, *, fragment: bool) -> bool:
    """Blocks, brackets, directives, the title. True when the block structure holds."""
    before = len(findings.all)
    _check_blocks(tree, findings)
    is_sound = not any(d.code in {"unclosed-subckt", "stray-ends"} for d in findings.all[before:])
    for netlist in (tree.root, *tree.files.values()):
        _check_control(netlist, findings)
    sound = _SOUND.among("cards")
    for placed in tree.expanded:
        card = placed.statement
        if (card.kind, card.raw) in sound:
            continue
        count = len(findings.all)
        _check_card(placed, findings)
        if len(findings.all) == count:
            sound.add((card.kind, card.raw))
    if tree.root.encoding == "utf-16" or findings.has("line-ends"):
        return False
    _check_sections(tree, findings, fragment=fragment)
    if not fragment:
        _check_title(tree, findings)
    if is_sound and not fragment:
        _check_analyses(tree, findings)
        _check_after_end(tree.root, findings)
    return is_sound


# ---- blocks --------------------------------------------------------------------------------------


def _check_blocks(tree: DependencyTree, findings: Findings) -> None:
    subckts: list[Placed] = []
    conditions: list[Placed] = []
    pairs_fit = _pairs_fit(tree)
    for placed in tree.expanded:
        statement = placed.statement
        if statement.kind != "directive":
            continue
        match statement.keyword:
            case "subckt":
                if len(subckts) == DEEPEST:
                    message = msg(
                        "Subcircuits are nested more than {count} levels deep here; deeper ones are "
                        "not distinguished. Is an .ends missing?",
                        count=DEEPEST,
                    )
                    findings.add("warning", "unclosed-subckt", message, file=placed.file, at=statement)
                subckts.append(placed)
            case "ends":
                _close_subckt(placed, subckts, findings, names_decide=not pairs_fit)
            case "if":
                conditions.append(placed)
            case "endif" | "else" | "elseif":
                if not conditions:
                    message = msg(".{name} has no .if before it.", name=statement.keyword)
                    findings.add("error", "stray-directive", message, file=placed.file, at=statement)
                elif statement.keyword == "endif":
                    conditions.pop()
    for placed in subckts:
        _note_unclosed(placed, findings)
    for placed in conditions:
        message = msg(".if has no .endif. Add it after the last card of the condition.")
        findings.add("error", "unclosed-if", message, file=placed.file, at=placed.statement)


def _pairs_fit(tree: DependencyTree) -> bool:
    """Every `.subckt` has its `.ends` when names are left aside, as ngspice does."""
    depth = 0
    for placed in tree.expanded:
        if placed.statement.kind == "directive" and depth >= 0:
            depth += (placed.statement.keyword == "subckt") - (placed.statement.keyword == "ends")
    return depth == 0


_NAMES_LOOKED_AT = 200
"""Open subcircuits among which an .ends looks for its own."""


def _close_subckt(
    placed: Placed, still_open: list[Placed], findings: Findings, *, names_decide: bool
) -> None:
    statement = placed.statement
    name = statement.words[1].key if len(statement.words) > 1 else None
    if not still_open:
        message = msg(".ends has no .subckt before it. Remove it, or add the .subckt.")
        findings.add("error", "stray-ends", message, file=placed.file, at=statement)
        return
    if name is None or name == _name_of(still_open[-1]):
        still_open.pop()
    elif names_decide and name in {_name_of(other) for other in still_open[-_NAMES_LOOKED_AT:]}:
        while _name_of(still_open[-1]) != name:
            _note_unclosed(still_open.pop(), findings)
        still_open.pop()
    else:
        closed = still_open.pop()
        message = msg(
            ".ends names {name} but closes {subckt}. Use the same name.",
            name=name,
            subckt=_name_of(closed),
        )
        # ngspice does not read the name: only inside another subcircuit may it have closed the wrong one
        findings.add(
            "warning" if still_open else "info", "ends-name", message, file=placed.file, at=statement
        )


def _name_of(placed: Placed) -> str:
    words = placed.statement.words
    return words[1].key if len(words) > 1 else ""


def _note_unclosed(placed: Placed, findings: Findings) -> None:
    message = msg(
        "Subcircuit {name} has no .ends. Add it after the subcircuit's last card.", name=_name_of(placed)
    )
    findings.add("error", "unclosed-subckt", message, file=placed.file, at=placed.statement)


def _check_control(netlist: Netlist, findings: Findings) -> None:
    begun: Statement | None = None
    for statement in netlist.statements:
        text = statement.raw.lower()
        if statement.kind == "control" and text.startswith(".control"):
            begun = begun or statement
        elif statement.kind == "control" and text.startswith(".endc"):
            begun = None
        elif statement.kind == "directive" and statement.keyword == "endc":
            message = msg(".endc has no .control before it. Remove it.")
            findings.add("warning", "stray-directive", message, file=netlist.path, at=statement)
    if begun is not None:
        message = msg(".control has no .endc: everything after it is read as commands. Add .endc.")
        behind = [s.raw for s in netlist.statements if s.line > begun.line]
        severity: Severity = "info"  # ngspice ends it with the file
        if any(_SWALLOWED_ELEMENT.match(raw) for raw in behind):
            severity = "warning"
        if any(_SWALLOWED_DIRECTIVE.match(raw) for raw in behind):
            severity = "error"
        findings.add(severity, "unclosed-control", message, file=netlist.path, at=begun)


def _check_sections(tree: DependencyTree, findings: Findings, *, fragment: bool) -> None:
    """`.lib name` sections belong into library files, opened by `.lib file name`."""
    for placed in tree.expanded:
        statement = placed.statement
        if statement.kind != "directive" or statement.keyword not in {"lib", "endl"}:
            continue
        in_library = placed.netlist is not tree.root and statement.section is not None
        if in_library or (placed.netlist is tree.root and fragment):
            continue
        if statement.keyword == "endl":
            message = msg(".endl is only valid in a library file.")
            findings.add("error", "stray-directive", message, file=placed.file, at=statement)
        elif len(statement.words) < 3:
            message = msg(".lib needs a file and a section. For a file without sections use .include.")
            findings.add("error", "lib-without-section", message, file=placed.file, at=statement)


# ---- single cards --------------------------------------------------------------------------------

_BRACKETED = {"param", "func", "model", "subckt", "ic", "nodeset", "meas", "include", "lib"} | ANALYSIS_KINDS


_END_OF_TEXT_OF_DOS = "\x1a\0 \t\r\n"
"""Ctrl-Z, with which old editors end the files of many vendors; ngspice does not mind it."""


def _check_card(placed: Placed, findings: Findings) -> None:
    statement = placed.statement
    if statement.kind == "unknown":
        if not statement.text.strip(_END_OF_TEXT_OF_DOS):
            return
        if is_device_of_qspice(statement, placed.netlist):
            name = statement.text.split(None, 1)[0].encode("ascii", "ignore").decode()
            message = msg("{name} is a device that only QSPICE has. Replace it with elements of ngspice, or "
                          "with a subcircuit.", name=name)  # fmt: skip
        else:
            message = msg(
                "No card begins with “{start}”. Put * before a comment.", start=statement.text.strip()[:1]
            )
        findings.add("error", "unknown-element", message, file=placed.file, at=statement)
        return
    is_directive = statement.kind == "directive"
    is_command = is_directive and statement.keyword in _COMMANDS - DIRECTIVES  # .pre_osdi
    if is_directive and not is_command and statement.keyword not in DIRECTIVES | {"endc"}:
        _note_unknown_directive(placed, findings)
        return
    if is_command or (statement.kind == "element" and _is_command(statement)):
        message = msg("{word} is a command. Put it between .control and .endc.",
                      word=statement.words[0].text.removeprefix("."))  # fmt: skip
        findings.add("error", "unknown-element", message, file=placed.file, at=statement)
        return
    if (foreign := foreign_form(statement)) is not None:
        findings.add("error", "foreign-form", foreign, file=placed.file, at=statement)
        return
    if statement.kind == "element" and len(statement.fields) > 1 and statement.fields[1].text == "=":
        message = msg("This line reads like the continuation of the card above. Begin it with +.")
        findings.add("warning", "missing-plus", message, file=placed.file, at=statement)
    if statement.kind == "element" or statement.keyword in _BRACKETED:
        for severity, index, message in _bracket_problems(statement):
            at = statement.field(index, index + 1)
            findings.add(severity, "unclosed-bracket", message, file=placed.file, at=at)


_COMMANDS = frozenset({
    "plot", "gnuplot", "hardcopy", "wrdata", "setplot", "pre_osdi", "osdi", "codemodel", "linearize",
    "settype",
})  # fmt: skip
_NAMES_TOO = frozenset({"run", "print", "echo", "quit", "display", "fourier"})
"""Commands an element may be called like."""


def _is_command(statement: Statement) -> bool:
    """A word of the command language where elements stand, and no element of that name."""
    word = statement.fields[0].key
    return word in _COMMANDS or (word in _NAMES_TOO and parse_element(statement).missing is not None)


XYCE_DIRECTIVES = frozenset({
    "global_param", "hb", "mpde", "sampling", "embeddedsampling", "pce", "fft", "preprocess", "result",
    "objective", "loadbias", "dcvolt",
})  # fmt: skip
"""Words of Xyce alone (Xyce Reference Guide, 2.1 "Netlist Commands")."""


def parted_message(name: str, number: str, unit: str, near: str) -> Message:
    """A value and its scale stand apart (`numbers.joined_value`)."""
    return msg(
        "{name}: a value has no space in it. Write {near}, not {number} {unit}.",
        name=name,
        near=near,
        number=number,
        unit=unit,
    )


def misspelt_directive(name: str) -> str | None:
    """The directive that is meant by a name that none has, ``tran`` by ``trans``; None where none is near."""
    if name in DIRECTIVES or name in XYCE_DIRECTIVES:
        return None
    import difflib

    return next(iter(difflib.get_close_matches(name, sorted(DIRECTIVES), n=1, cutoff=0.6)), None)


def _note_unknown_directive(placed: Placed, findings: Findings) -> None:
    name = placed.statement.keyword
    near = misspelt_directive(name)
    message = (
        msg("ngspice uses .param instead of .{name}. Change it.", name=name)
        if name == "global_param"
        else msg(
            ".{name} is a Xyce directive that ngspice does not have. Remove the line.",
            name=name,
        )
        if name in XYCE_DIRECTIVES
        else msg("ngspice has no directive .{name}. Did you mean .{near}?", name=name, near=near)
        if near
        else msg("ngspice has no directive .{name}. Remove the line or make it a comment.", name=name)
    )
    findings.add("error", "unknown-directive", message, file=placed.file, at=placed.statement)


_OPENERS = {"(": ")", "{": "}"}
_BRACKET = late_pattern("""[(){}'"]""")


def _bracket_problems(statement: Statement) -> Iterator[tuple[Severity, int, Message]]:
    """The first quote, brace or parenthesis without its partner."""
    raw = statement.raw
    stack: list[int] = []
    quote: int | None = None
    for found in _BRACKET.finditer(raw):
        index, character = found.start(), found.group()
        if quote is not None:
            quote = None if character == raw[quote] else quote
        elif character in "'\"":
            quote = index
        elif character in _OPENERS:
            stack.append(index)
        elif character in _OPENERS.values():
            if not stack or _OPENERS[raw[stack[-1]]] != character:
                in_braces = any(raw[i] == "{" for i in stack)
                if any(_OPENERS[raw[i]] == character for i in stack):  # its own partner is further out
                    yield _bracket_severity(statement, "{", in_braces), stack[-1], _not_closed(raw[stack[-1]])
                    return
                yield (
                    _bracket_severity(statement, character, in_braces),
                    index,
                    msg("“{sign}” closes nothing.", sign=character),
                )
                return
            stack.pop()
    if quote is not None:
        yield "error", quote, msg("The quote {sign} is not closed.", sign=raw[quote])
    elif stack:
        opener = raw[stack[-1]]
        yield (
            _bracket_severity(statement, opener, any(raw[i] == "{" for i in stack)),
            stack[-1],
            _not_closed(opener),
        )


def _not_closed(opener: str) -> Message:
    return msg("“{sign}” is not closed. Add “{closer}”.", sign=opener, closer=_OPENERS[opener])


_COUNTED = frozenset({"b", "param", "func"})
_NAMES_FILES_OR_NODES = frozenset({"x", "subckt", "include", "lib"})


def _bracket_severity(statement: Statement, sign: str, in_braces: bool) -> Severity:
    """ngspice 39 counts parentheses in expressions only; elsewhere they are as good as blanks."""
    is_counted = statement.keyword in _COUNTED | _NAMES_FILES_OR_NODES or sign in "{}"
    is_counted = is_counted or (in_braces and statement.keyword not in "eg")
    if statement.keyword == "model" and sign == "(":  # read as it is meant
        return "error" if is_counted else "info"
    return "error" if is_counted else "warning"


# ---- the deck as a whole -------------------------------------------------------------------------


def _check_title(tree: DependencyTree, findings: Findings) -> None:
    first = tree.root.statements[:1]
    if not first or first[0].kind != "title" or not looks_like_card(first[0].text):
        return
    message = msg("The first line is the title, so this card is not read. Insert a title line above it.")
    # of the one ngspice says that the title line is missing, of the other that an .endc is misplaced
    is_refused = first[0].raw[:4].lower() == ".par" or first[0].raw.strip().lower() == ".control"
    findings.add("error" if is_refused else "warning", "title-is-card", message, file=tree.root.path, at=1)


def looks_like_card(text: str) -> bool:
    """A title that is surely meant as a card: an element with its nodes and a number, or a directive."""
    stripped = text.strip()
    if stripped.startswith("."):
        word = re.split(r"\s", stripped[1:], maxsplit=1)[0].lower()
        is_long = len(stripped.split()) > 1 or word == "control"
        return word in DIRECTIVES - {"title", "op", "end"} and is_long
    probe = Netlist.parse(stripped.encode("utf-8"), has_title=False).statements
    if len(probe) != 1 or probe[0].kind != "element" or not re.match(r"[a-zA-Z]\w*\d", stripped):
        return False
    element = parse_element(probe[0])
    if element.letter not in "rclvieghqmdj" or element.missing is not None or element.letter not in SHAPES:
        return False
    known_model = element.model is not None and len(element.statement.words) >= len(element.nodes) + 2
    has_number = element.value is not None and read_number(element.value.text) is not None
    return (
        has_number
        or (element.letter in "vi" and bool(element.words))
        or (element.letter in "qmdj" and known_model and re.search(r"\s\S*[\d=]", stripped) is not None)
    )


def _check_analyses(tree: DependencyTree, findings: Findings) -> None:
    cards = [
        p for p in tree.expanded if p.statement.kind == "directive" and p.statement.keyword in ANALYSIS_KINDS
    ]
    has_control = any(n.has_control_block for n in (tree.root, *tree.files.values()))
    if not cards and not has_control and not _has_misspelt_analysis(tree):
        message = msg("The netlist contains no analysis. Add one, for example {example}.", example=".op")
        findings.add("warning", "no-analysis", message, file=tree.root.path, at=1)
    parameters = {
        pair.name
        for placed in tree.expanded
        if placed.statement.keyword == "param"
        for pair in assignments_of(placed.statement)
    }
    for placed in cards:
        text = placed.statement.text.strip()[1:]
        example = analysis_problem(text)
        apart = [
            (number, unit, near)
            for number, unit in pairwise(placed.statement.fields)
            if (near := joined_value(number.text, unit.text)) is not None
        ]
        for number, unit, near in apart:
            message = parted_message(f".{placed.statement.keyword}", number.text, unit.text, near)
            findings.add("error", "parted-value", message, file=placed.file, at=number)
        if apart:
            continue
        bare = _bare_parameter(placed.statement, parameters)
        if bare is not None:
            message = msg("ngspice accepts {text} here only in braces: {braced}.", text=bare.text,
                          braced=f"{{{bare.text}}}")  # fmt: skip
            findings.add("error", "bad-analysis", message, file=placed.file, at=bare)
        elif example is not None and re.match(r"\$\w", placed.statement.comment):
            word, name = placed.statement.comment.split()[0], f".{placed.statement.keyword}"
            message = msg("In ngspice “{word}” begins a comment, so {name} lacks what follows. Rename it.",
                          word=word, name=name)  # fmt: skip
            findings.add("error", "bad-analysis", message, file=placed.file, at=placed.statement)
        elif example is not None:
            message = msg(
                "ngspice cannot read this analysis. Write it like {example}.", example="." + example
            )
            findings.add("error", "bad-analysis", message, file=placed.file, at=placed.statement)
        elif has_idle_sweep(text):
            message = msg(
                "ngspice runs only the first step of the second sweep. Check its start, stop and step."
            )
            findings.add("warning", "bad-analysis", message, file=placed.file, at=placed.statement)
        elif has_empty_sweep(text):
            message = (
                msg("This analysis covers no time. Its step and stop time must be above 0, and it must "
                    "start before it stops.")
                if placed.statement.keyword == "tran"
                else msg("This sweep has no points. Check its start, stop and step.")
            )  # fmt: skip
            findings.add("error", "bad-analysis", message, file=placed.file, at=placed.statement)


_NUMBERS_OF = {
    "tran": (1, 2, 3, 4),
    "dc": (2, 3, 4, 6, 7, 8),
    "ac": (2, 3, 4),
    "disto": (2, 3, 4),
    "sp": (2, 3, 4),
}
"""Words of an analysis card that are numbers, from the first behind the directive on."""


def _bare_parameter(card: Statement, parameters: Set[str]) -> Field | None:
    """A number of an analysis given as a parameter's bare name, as HSPICE takes it."""
    words = card.words
    places = (index for index in _NUMBERS_OF.get(card.keyword, ()) if index < len(words))
    return next((words[index] for index in places if words[index].key in parameters), None)


def _has_misspelt_analysis(tree: DependencyTree) -> bool:
    """An unknown directive that was noted as one: ``.trna``."""
    unknown = {p.statement.keyword for p in tree.expanded if p.statement.kind == "directive"} - DIRECTIVES
    return any(misspelt_directive(name) in ANALYSIS_KINDS for name in unknown)


def _check_after_end(root: Netlist, findings: Findings) -> None:
    end = root.end_line
    if end is None:
        return
    behind = [s for s in root.statements if s.line > end and s.kind != "control" and s.keyword != "end"]
    if behind:
        message = msg("ngspice also reads cards after .end. Move .end to the end of the file.")
        findings.add("warning", "after-end", message, file=root.path, at=behind[0])
