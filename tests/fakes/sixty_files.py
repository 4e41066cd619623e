"""A project of 60 files in two languages (``sixty_files.txt``), and questions with what answers each.

The netlists are our own; half of them are written as public sources are: exported by schematic editors, upper
case with continued cards as in course decks, vendors' macro models.
"""

from __future__ import annotations

from pathlib import Path

_HERE = Path(__file__).parent


def questions() -> list[tuple[str, str]]:
    """40 questions, and the piece that answers each."""
    lines = (_HERE / "sixty_files_questions.txt").read_text(encoding="utf-8").splitlines()
    return [(words, answer) for words, _, answer in (line.partition(" => ") for line in lines)]


UNRELATED: tuple[str, ...] = (
    "Hello!",
    "Thank you very much, that was helpful.",
    "What is the capital of France?",
    "Tell me a joke about penguins.",
    "Write a poem about autumn.",
    "Who won the football world cup in 1998?",
    "How do I cook rice?",
    "Translate good morning into Japanese.",
    "Is it going to rain tomorrow?",
    "What is 17 times 23?",
    "Recommend a novel for the holidays.",
    "你好！",
    "谢谢，辛苦了。",
    "今天天气怎么样？",
    "给我讲个笑话。",
    "推荐一部好看的电影。",
    "北京有哪些好吃的餐馆？",
    "帮我写一首关于秋天的诗。",
    "怎么学好英语口语？",
    "How old is the universe?",
)


def write_project(root: Path) -> None:
    """Write the 60 files; netlists get cards as any has them."""
    for entry in (_HERE / "sixty_files.txt").read_text(encoding="utf-8").split("=== ")[1:]:
        head, _, text = entry.partition("\n")
        kind, _, name = head.partition(" ")
        _write(root / name, f"{text}{_filler(name)}.end\n" if kind == "netlist" else text)


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def _filler(name: str) -> str:
    """Cards as any netlist has them: bias parts, decoupling, an analysis; other values in each file."""
    seed = sum(map(ord, name))
    cards = ["* bias and decoupling"]
    for at in range(20 + seed % 40):
        number = 100 + at
        cards.append(f"R{number} n{at} n{at + 1} {(seed * (at + 3)) % 97 + 1}k")
        cards.append(f"C{number} n{at + 1} 0 {(seed * (at + 7)) % 89 + 1}n")
    return "\n".join([*cards, f"Vb n0 0 {seed % 11 + 3}", f".tran 1u {seed % 9 + 1}m", ""])
