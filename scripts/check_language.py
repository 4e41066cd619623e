"""Looks for words the glossary bans in every text people are shown; part of `make check`.

The words are those of the two last tables of docs/language.md. Texts are the templates of `msg(...)`,
the catalogues of translations, and the README.
"""

from __future__ import annotations

import ast
import json
import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ROOMS = ("shared", "domain", "application", "infrastructure", "presentation", "composition")
_CHINESE_SPACING = re.compile(
    r"[\d}][ \u00a0\u202f]%"
    r"|[\u3400-\u9fff][A-Za-z0-9]|[A-Za-z0-9][\u3400-\u9fff]"
    r"|[\u3400-\u9fff][,;:!?](?:\s|$)|” [\u3400-\u9fff]"
    r"|\d(?:[kMmnpµ]?(?:Hz|V|A|W|s|Ω)|dB)(?![A-Za-z0-9])"
)
"""What is written otherwise in Chinese: ``60%``, ``10 kHz``, 用 ngspice 仿真, full-width punctuation."""
_SPACING = {"en": re.compile(r"[\d}]%(?!\")"), "zh": _CHINESE_SPACING}
"""English has a space before % but in what is to be typed as it stands."""
_TABLES = {"en": "## English words to avoid", "zh": "## Chinese words to avoid"}


def banned(language: str, glossary: str) -> re.Pattern[str]:
    """The pattern of all words of a table; case is ignored, English words are whole words."""
    table = glossary.partition(_TABLES[language])[2].partition("\n## ")[0]
    rows = [line.split("|")[1] for line in table.splitlines() if line.startswith("| ")][1:]
    words = [word.strip() for row in rows for word in re.split("[,、]", row)]
    either = "|".join(map(re.escape, sorted(words, key=len, reverse=True)))
    return re.compile(
        rf"(?<![\w-])(?<!there )(?:{either})(?![\w-])" if language == "en" else either, re.IGNORECASE
    )


def spoken(source: str) -> Iterator[tuple[int, str]]:
    """Line and text of each `msg(...)` and `template(...)` in a Python source."""
    for call in ast.walk(ast.parse(source)):
        name = getattr(call.func, "id", getattr(call.func, "attr", "")) if isinstance(call, ast.Call) else ""
        if isinstance(call, ast.Call) and name in {"msg", "template"}:
            for text in call.args:
                if isinstance(text, ast.Constant) and isinstance(text.value, str):
                    yield text.lineno, text.value


def texts(root: Path) -> Iterator[tuple[str, str, str]]:
    """Language, place and text of everything people read."""
    for room in ROOMS:
        for path in sorted((root / room).rglob("*.py")):
            for line, text in spoken(path.read_text("utf-8")):
                yield "en", f"{path.relative_to(root)}:{line}", text
    catalogues = root / "resources" / "translations"
    for path in sorted(catalogues.glob("*/*.json")):
        language = "en" if path.name == "en.json" else "zh"
        for text in json.loads(path.read_text("utf-8")).values():
            yield language, str(path.relative_to(root)), text
    for number, line in enumerate((root / "README.md").read_text("utf-8").splitlines(), 1):
        yield "en", f"README.md:{number}", line


def faults(found: Iterable[tuple[str, str, str]], glossary: str) -> list[str]:
    """One line for each text that has a word to avoid."""
    patterns = {language: banned(language, glossary) for language in _TABLES}
    wrong = []
    for language, place, text in found:
        word = patterns[language].search(text) or _SPACING[language].search(text)
        if word:
            wrong.append(f"{place}: “{word[0]}” in “{text}”")
    return wrong


def main() -> int:
    """Print what is wrong; the exit code says whether there was something."""
    wrong = faults(texts(ROOT), (ROOT / "docs" / "language.md").read_text("utf-8"))
    for line in wrong:
        print(line)
    if wrong:
        print(f"{len(wrong)} texts have words that docs/language.md says to avoid.")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
