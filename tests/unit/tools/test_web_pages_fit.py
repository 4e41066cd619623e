"""Pages from the web have no more room than a result of the model that is asked."""

from __future__ import annotations

import pytest

from application.tool_execution.tools.web import fitting
from domain.llm.chat import ModelRoom, WebSource
from domain.llm.context_block import fence_data
from domain.llm.tokens import count_tokens
from domain.llm.tools.result import cut_middle

PAGES = [
    WebSource(
        url=f"https://example.org/{n}", title=f"Page {n}", text="A word of filters. " * 20, reference=f"[{n}]"
    )
    for n in range(1, 11)
]


@pytest.mark.parametrize(
    ("window", "pages", "most"), [(8_192, 10, 800), (16_000, 10, 1_800), (200_000, 10, 1_800)]
)
def test_excerpts_are_shortened_alike_before_a_page_is_left_out(window: int, pages: int, most: int) -> None:
    room = ModelRoom(window=window).result
    shown = fitting(PAGES, room)
    text = fence_data("pages", "\n".join(f"{page.title} {page.url} {page.text}" for page in shown))
    assert len(shown) == pages
    assert count_tokens(text) <= most
    assert len({len(page.text) for page in shown}) == 1
    assert (window > 8_192) or all(page.text.endswith("…") for page in shown)
    assert cut_middle(text, room.characters) == text, "the fence stays whole"
