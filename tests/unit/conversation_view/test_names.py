"""What is a name of the project in a text, and what only looks like one."""

from __future__ import annotations

from html.parser import HTMLParser

from presentation.panels.conversation.html_view import HtmlItems, whole_prose
from presentation.panels.conversation.items import AnswerText, ErrorBlock
from presentation.panels.conversation.markup import to_html
from presentation.panels.conversation.names import CircuitNames, Names
from shared.message import msg
from tests.ground.cases import for_each

NAMES = Names(
    files=frozenset({"filter.cir", "lib/opa.lib", "a/same.lib", "b/same.lib", "滤波器.cir"}),
    circuits={
        "filter.cir": CircuitNames(
            nodes=frozenset({"out", "in", "1"}),
            elements=frozenset({"r1"}),
            metrics={"corner_hz": "corner_hz", "corner frequency": "corner_hz", "gain": "gain"},
        )
    },
)


@for_each(
    ("text", "found"),
    [
        ("see filter.cir:12.", ["open filter.cir:12 as filter.cir:12"]),
        ("filter.cir, opa.lib:3", ["open filter.cir:0 as filter.cir", "open lib/opa.lib:3 as opa.lib:3"]),
        (
            "请看filter.cir:3行和滤波器.cir。",
            ["open filter.cir:3 as filter.cir:3", "open 滤波器.cir:0 as 滤波器.cir"],
        ),
        ("same.lib, b/same.lib", ["open b/same.lib:0 as b/same.lib"]),
        ("../filter.cir /etc/filter.cir http://h/filter.cir x@filter.cir filter.cir.bak filter.cirx", []),
        ("db(v(out)) VDB( out )", ["trace v(out) as v(out)", "trace v(out) as VDB( out )"]),
        ("v(out,in) i(R1)", ["trace v(out,in) as v(out,in)", "trace i(r1) as i(R1)"]),
        ("v(nowhere) i(out) v(0) i(r1,r1) ev(out)", []),
        (
            "corner_hz; the Corner frequency; gain and out",
            ["measure corner_hz as corner_hz", "measure corner_hz as Corner frequency"],
        ),
    ],
)
def test_what_the_project_has_is_a_name(text: str, found: list[str]) -> None:
    links: list[str] = []

    def link(act: str, argument: str, shown: str) -> str:
        links.append(f"{act} {argument} as {shown}")
        return shown

    assert NAMES.in_text(text, link) == text  # nothing but links is added
    assert sorted(links) == sorted(found)


def test_in_code_a_single_word_may_be_a_name_and_in_links_formulas_and_blocks_none() -> None:
    text = (
        "`out` `gain` `filter.cir:2` `1` [v(out)](https://x.org/filter.cir) $v(out)$\n\n"
        "```spice\nR1 out 0 1k ; filter.cir:3\n```\n"
    )
    page = to_html(text, lambda block: whole_prose(block, NAMES))
    assert page.count("data-act") == 3
    assert '<code><a class="name" role="link" tabindex="0" data-act="trace" data-arg="v(out)">out</a>' in page


def test_a_link_breaks_out_of_no_attribute() -> None:
    text = '[x](https://a.org/?q=>v(out) \'t>filter.cir:3 onmouseover=alert(1) "\')\n\n<a title=">v(out)">'
    elements: list[tuple[str, list[str]]] = []
    reader = HTMLParser()
    reader.handle_starttag = lambda tag, attrs: elements.append((tag, [name for name, _ in attrs]))  # type: ignore[method-assign]
    reader.feed(to_html(text, lambda block: whole_prose(block, NAMES)))
    ours = ["class", "role", "tabindex", "data-act", "data-arg"]
    assert elements == [("p", []), ("a", ["href", "title", "rel"]), ("p", []), ("a", ours)]


def test_names_in_errors_are_links() -> None:
    block = ErrorBlock(key="e", message=msg("Line wrong in {file}.", file="filter.cir:4 <b>"))
    page = HtmlItems(str, lambda _name: "", NAMES)(block)
    assert 'data-arg="filter.cir:4">filter.cir:4</a> &lt;b&gt;' in page
    answer = AnswerText(key="a", text="filter.cir:4")
    assert "data-arg" not in HtmlItems(str, lambda _name: "")(answer)
