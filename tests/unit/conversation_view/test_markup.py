"""Markdown of models: what it shows, what it never lets through, and that a stream is cut as the whole is."""

from __future__ import annotations

import html
import re

from presentation.panels.conversation.markup import (
    BLOCK_LIMIT,
    LONGEST_LINE,
    WORD_BREAK,
    BlockSplitter,
    block_html,
    blocks_of,
    code_in,
    to_html,
)
from tests.ground.campaign import campaigns
from tests.ground.cases import for_each

TAG = re.compile(r"<[^>]*>")


def words(markup: str) -> str:
    return html.unescape(TAG.sub(" ", markup))


def test_formulas_leave_as_their_tex_and_money_does_not() -> None:
    shown = to_html("With $f_0 = \\frac{1}{2\\pi RC}$ and $$Q_a$$ or \\(x<y\\) it costs $5 and $10.")
    assert '<span class="math inline">f_0 = \\frac{1}{2\\pi RC}</span>' in shown
    assert '<span class="math display">Q_a</span>' in shown
    assert '<span class="math inline">x&lt;y</span>' in shown
    assert "it costs $5 and $10." in shown


def test_a_dollar_in_code_is_no_formula() -> None:
    assert to_html("`a $x$ b`") == "<p><code>a $x$ b</code></p>"
    assert "math" not in to_html("```\n$x$ $$y$$\n```")


def test_a_list_right_after_a_line_is_a_list() -> None:
    shown = to_html("Steps:\n1. one\n2. two\n   - inner")
    assert shown.count("<li>") == 3
    assert "<ol>" in shown
    assert "<ul>" in shown


def test_a_loose_list_keeps_counting() -> None:
    assert to_html("1. one\n\n2. two\n\nText").count("<ol") == 1


def test_netlists_are_coloured_with_and_without_a_name() -> None:
    for fence in ("```spice", "```"):
        shown = to_html(f"{fence}\n* title\nR1 in out 1k ; load\nC1 out 0 {{c}}\n.ac dec 10 1 1meg\n```")
        assert '<span class="s-element">R1</span>' in shown
        assert '<span class="s-value">1k</span>' in shown
        assert '<span class="s-comment">; load</span>' in shown
        assert '<span class="s-directive">.ac</span>' in shown
    assert "s-element" not in to_html("```python\nR1 = 2\n.op\n```")


def test_tables_keep_their_alignment() -> None:
    assert '<td align="right">2</td>' in to_html("| a | b |\n|---|--:|\n| 1 | 2 |")


@for_each(
    "hostile",
    [
        "<script>alert(1)</script>",
        "<img src=x onerror=alert(1)>",
        "[x](javascript:alert(1))",
        "[x](data:text/html,<script>alert(1)</script>)",
        "![x](https://tracker.example/a.png)",
        "<a href='file:///etc/passwd'>x</a>",
        "<style>*{display:none}</style>",
        "**<iframe src=//e></iframe>**",
        "$<script>alert(1)</script>$",
        '```x"><script>alert(1)</script>\ny\n```',
        "\ue0000\ue001 \ue0009\ue001",
    ],
)
def test_nothing_active_gets_through(hostile: str) -> None:
    shown = to_html(hostile)
    assert not re.search(r"<(script|img|iframe|style|object|form|input|button)\b", shown, re.I)
    for tag in TAG.findall(shown):
        assert not re.search(r"\son\w+\s*=|javascript:|data:text|file:", tag, re.I), tag


def test_what_is_no_markup_of_ours_is_shown_as_written() -> None:
    assert "v(<out>)" in words(to_html("Node v(<out>) and R<sub>1</sub>"))
    assert "<sub>1</sub>" in to_html("Node v(<out>) and R<sub>1</sub>")


def test_an_endless_line_and_an_endless_fence_are_cut() -> None:
    splitter = BlockSplitter()
    blocks = splitter.feed("```\n" + "0123456789\n" * 3_000)
    assert len(blocks) >= 3
    assert all(len(block.text) <= BLOCK_LIMIT + 20 for block in blocks)
    assert all(block.kind == "code" for block in blocks)
    assert splitter.tail_length <= BLOCK_LIMIT
    word = "x&" * 2 * BLOCK_LIMIT
    made = to_html(word)
    assert "".join(words(made.replace(WORD_BREAK, "")).split()) == word
    assert max(map(len, words(made).split())) == 1_000


@for_each(
    ("before", "line", "behind"),
    [
        ("", "> ", ""),
        ("A line.\n", "w*w* ", "\nAnother *one*.\n"),
        ("- item\n\n", "```", "\n\nEnd\n"),
        ("```spice\nR1 a b 1k\n", "{", "\nC1 a 0 1n\n```\nEnd\n"),
        ("```\n", "zz z", "\n```\n"),
        ("$$\n", "\\a ", "\n$$\n"),
    ],
)
def test_an_endless_line_is_cut_wherever_its_pieces_end(before: str, line: str, behind: str) -> None:
    endless = (line * 3 * LONGEST_LINE)[: 3 * LONGEST_LINE + 7]
    text = before + endless + behind
    whole = blocks_of(text)
    assert len(whole) >= 4
    assert all(len(block.text) <= LONGEST_LINE + 1 for block in whole)
    assert endless in "".join(block.text for block in whole)  # no line end is put between
    for length in (997, LONGEST_LINE, LONGEST_LINE + 1, len(text) - 1):
        splitter = BlockSplitter()
        pieces = [splitter.feed(text[at : at + length]) for at in range(0, len(text), length)]
        assert [*(block for found in pieces for block in found), *splitter.end()] == whole
        assert splitter.tail_length <= LONGEST_LINE
    shown = to_html(text)
    assert ("<em>one</em>" in shown) == ("*one*" in behind)  # what follows is prose again
    if "```" in before:
        (code,) = code_in(text)
        assert code == (before + endless + behind).split("```")[1].partition("\n")[2]
    else:
        assert "<blockquote>" not in shown
        assert shown.count("<em>") == behind.count("*one*")


def test_a_lone_surrogate_and_deep_nesting_are_shown() -> None:
    assert "a" in to_html("a \ud800 b")
    assert to_html("> " * 3_000 + "x")
    assert to_html("> " * 9 + "x").count("<blockquote>") == 9
    deeper = "\n".join("> " * n + f"x{n}" for n in range(1, 60))  # a page takes seconds to lay it out
    assert "<blockquote>" not in to_html(deeper)
    assert words(to_html(deeper)).split("x59")[0].endswith("> " * 59)
    lists = "\n".join("  " * n + "- x" for n in range(60))
    assert "<ul>" not in to_html(lists)


PIECES = (
    "word ", "**b** ", "`c` ", "\n", "\n\n", "- item\n", "1. n\n", "  more\n",
    "```spice\n", "```\n", "~~~\n",
    "R1 a b 1k\n", "$x$ ", "$$\n", "\\[", "\\]", "| a | b |\n|---|---|\n| 1 | 2 |\n", "# Head\n",
    "> q\n", "<b>",
    "中文，", "$", "`", "&amp; ", "\r\n", "\t",
)  # fmt: skip


@campaigns(fast=150, whole=6_000)
def test_pieces_give_the_blocks_of_the_whole(campaign) -> None:
    """However a text is cut into pieces, its blocks are the same, and no word is lost."""
    for rng in campaign.cases():
        text = "".join(rng.choice(PIECES) for _ in range(rng.randint(1, 40)))
        whole = BlockSplitter()
        expected = [*whole.feed(text), *whole.end()]
        splitter, found, at = BlockSplitter(), [], 0
        while at < len(text):
            length = rng.randint(1, 9)
            found += splitter.feed(text[at : at + length])
            at += length
            tail = splitter.tail()
            assert tail is None or block_html(tail)
        found += splitter.end()
        assert found == expected
        assert to_html(text).count("word") == text.count("word")
        assert to_html(text).count("中文") == text.count("中文")
