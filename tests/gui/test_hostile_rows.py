"""Hostile texts wherever strangers have their words: nothing runs, nothing loads, the page stays usable."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Iterable, Iterator
from html.parser import HTMLParser
from itertools import islice
from typing import Any
from urllib.parse import urlsplit

import pytest
from PyQt6.QtCore import QUrl
from PyQt6.QtWebEngineCore import QWebEngineUrlRequestInfo

from domain.llm.attachments import Attachment
from domain.llm.chat import WebSource
from domain.llm.tools.text_files import diff_texts
from presentation.panels.conversation import plain_document, web_view
from presentation.panels.conversation.charts import Chart, ChartLine
from presentation.panels.conversation.document import PrintedItems
from presentation.panels.conversation.html_view import HtmlItems
from presentation.panels.conversation.items import (
    Added,
    AnswerText,
    AttachedItem,
    ErrorBlock,
    Item,
    Narration,
    OperationCard,
    Reset,
    ScrollPlace,
    SimulationCard,
    Streamed,
    UserText,
)
from presentation.panels.conversation.names import CircuitNames, Names
from presentation.panels.conversation.plain_view import PlainConversation
from presentation.panels.conversation.web_probe import WebProbe
from presentation.panels.conversation.web_view import WebConversation
from presentation.ui.workspace import WindowServices
from shared.message import msg, visible
from tests.ground.campaign import Campaign, campaigns
from tests.gui.conftest import Until
from tests.gui.test_conversation_web_view import chromium
from tests.gui.test_plain_view import document, links

__all__ = ["chromium"]

pytestmark = pytest.mark.timeout(180)

AT = "http://127.0.0.1:9"
HOSTILE = {
    "script": "<script>window.ran=1</script>",
    "script in capitals": "<ScRiPt SRC=//127.0.0.1:9/x.js></sCrIpT>",
    "script split by a tag": "<scr<script>ipt>window.ran=1</scr</script>ipt>",
    "script with a null": "<scr\x00ipt>window.ran=1</script>",
    "module": f"<script type=module>import '{AT}/x.js'</script>",
    "img onerror": "<img src=x onerror=window.ran=1>",
    "img slashes": "<img/src=x/onerror=window.ran=1>",
    "img in backticks": "`<img src=x onerror=window.ran=1>`",
    "img unclosed": '<img src="x" onerror="window.ran=1"',
    "img in an entity": "&lt;img src=x onerror=window.ran=1&gt;",
    "img twice escaped": "&amp;lt;img src=x onerror=window.ran=1&amp;gt;",
    "img in numbers": "&#60;img src=x onerror=window.ran=1&#62;",
    "img in hex without end": "&#x3cimg src=x onerror=window.ran=1&#x3e",
    "picture of Markdown": f"![x]({AT}/a.png)",
    "picture by reference": f"![x][1]\n\n[1]: {AT}/a.png",
    "picture in a link": f"[![x]({AT}/a.png)](javascript:window.ran=1)",
    "picture of a file": "![x](file:///etc/passwd)",
    "svg onload": "<svg onload=window.ran=1><circle r=9 /></svg>",
    "svg with script": "<svg><script>window.ran=1</script></svg>",
    "svg foreign object": "<svg><foreignObject><iframe src=javascript:window.ran=1></foreignObject></svg>",
    "svg animation": "<svg><animate onbegin=window.ran=1 attributeName=x dur=1s></svg>",
    "svg use": f"<svg><use href='{AT}/x.svg#a'/></svg>",
    "math": "<math><mtext><table><mglyph><style><img src=x onerror=window.ran=1>",
    "iframe": f"<iframe src={AT}></iframe>",
    "iframe srcdoc": "<iframe srcdoc='<script>parent.ran=1</script>'></iframe>",
    "object": f"<object data={AT}/x.swf></object>",
    "embed": f"<embed src={AT}/x.pdf>",
    "video": f"<video src={AT}/x.mp4 onerror=window.ran=1 autoplay></video>",
    "audio source": f"<audio><source src={AT}/x.mp3 onerror=window.ran=1></audio>",
    "meta refresh": f"<meta http-equiv=refresh content='0;url={AT}'>",
    "base": f"<base href={AT}/>",
    "style sheet": f"<link rel=stylesheet href={AT}/x.css>",
    "style import": f"<style>@import '{AT}/x.css';</style>",
    "style url": f"<div style=\"background:url('{AT}/x.png')\">x</div>",
    "style over everything": "<div style='position:fixed;inset:0;z-index:99999'>x</div>",
    "font": f"<style>@font-face{{font-family:x;src:url({AT}/x.woff)}} *{{font-family:x}}</style>",
    "form": f"<form action={AT}><input name=x autofocus onfocus=window.ran=1></form>",
    "button": "<button data-act=undo data-arg=x onclick=window.ran=1>Allow all</button>",
    "details": "<details open ontoggle=window.ran=1><summary>x</summary></details>",
    "marquee": "<marquee onstart=window.ran=1>x</marquee>",
    "own act": "<a data-act='undo' data-arg='x' href='act:undo/x/y'>z</a>",
    "link to script": "[x](javascript:window.ran=1)",
    "link with a tab": "[x](java\tscript:window.ran=1)",
    "link with entities": "[x](&#106;avascript:window.ran=1)",
    "link with blanks before": "[x](\x01 javascript:window.ran=1)",
    "link to vbscript": "[x](vbscript:window.ran)",
    "link to data": "[x](data:text/html,<script>window.ran=1</script>)",
    "link to a blob": "[x](blob:http://127.0.0.1:9/x)",
    "link to a file": "[x](file:///etc/passwd)",
    "link to our acts": "[x](act:undo/x/y)",
    "link to icons": "[x](icon:flag?warn.icon)",
    "link without scheme": "[x](//127.0.0.1:9/x)",
    "link with a host of tricks": "[https://good.example](https://good.example@127.0.0.1:9/x)",
    "html in a title": "[x](https://a.org '\"><img src=x onerror=window.ran=1>')",
    "html in link text": "[<img src=x onerror=window.ran=1>](https://a.org)",
    "autolink": "<javascript:window.ran=1> <https://a.org/\"onmouseover=window.ran=1>",
    "reference link": "[x][y]\n\n[y]: javascript:window.ran=1",
    "html comment": "<!--><img src=x onerror=window.ran=1>-->",
    "cdata": "<![CDATA[<img src=x onerror=window.ran=1>]]>",
    "processing instruction": "<?xml-stylesheet href='x'?><!DOCTYPE x [<!ENTITY e SYSTEM 'file:///etc/passwd'>]>&e;",
    "end of our page": "</div></main></body></html><script>window.ran=1</script>",
    "noscript": "<noscript><p title='</noscript><img src=x onerror=window.ran=1>'>",
    "textarea": "<textarea><img title='</textarea><img src=x onerror=window.ran=1>'></textarea>",
    "template": "<template><script>window.ran=1</script></template>",
    "formula link": "$\\href{javascript:window.ran=1}{x}$ $\\url{javascript:window.ran=1}$",
    "formula html": "$\\htmlData{act=undo}{y}$ $\\htmlStyle{position:fixed}{y}$ $\\htmlId{items}{y}$",
    "formula picture": f"$\\includegraphics{{{AT}/x.png}}$",
    "formula without end": "$$\\def\\a{\\a\\a}\\a$$ $" + "{" * 900,
    "formula larger than the page": "$\\rule{9999em}{9999em}$",
    "fence info": "```\"><img/src=x/onerror=window.ran=1>\nx\n```",
    "fence not closed": "```spice\n</code></pre><script>window.ran=1</script>",
    "fence in a fence": "````\n```\n<script>window.ran=1</script>\n```\n````",
    "table cell": "| a | b |\n|---|---|\n| <script>window.ran=1</script> | [x](javascript:window.ran=1) |",
    "name in an attribute": "[x](https://a.org/v(out)?\"onmouseover=window.ran=1 'filter.cir:3')",
    "name beside markup": "<b onmouseover=window.ran=1>filter.cir:3</b> `v(out)` <i>v(out)",
    "place outside": "../../etc/passwd:1 /etc/passwd:1 filter.cir:3/../../x file:///filter.cir:3",
    "direction of text": "\u202efdp.rotide\u202c \u2066\u2067\u200f\u061c filter.cir:3 \u2069",
    "no width": "f\u200bilter\u2060.cir:3 \ufeff<scr\u200dipt>window.ran=1</script>",
    "lines of other systems": "a\u2028window.ran=1\u2029b\x85c\x0bd\x0ce\rf",
    "lone surrogate": "a \ud800 b \udfff",
    "private signs of ours": "\ue0000\ue001 \ue0001\ue001 \ue002<img src=x onerror=window.ran=1>",
    "terminal": "\x1b]8;;http://127.0.0.1:9\x07x\x1b]8;;\x07 \x1b[2J",
    "marks on one letter": "a" + "\u0301" * 5_000,
    "template of a message": "{count} {0.__class__} %s %(x)s ${window.ran=1} {{window.ran=1}}",
    "json": '"},{"a":1}]);window.ran=1;([[',
    "one endless line": "word " * 200_000,
    "one endless word": "x" * 1_000_000,
    "ten thousand brackets": "[" * 10_000 + "x" + "](" * 10_000,
    "ten thousand quotes": ">" * 10_000 + " x",
    "ten thousand stars": "*" * 10_000 + "x" + "_" * 10_000,
    "ten thousand lists": "\n".join("  " * n + "- x" for n in range(300)) + "\n" + "- " * 10_000,
    "ten thousand backticks": "`x``" * 5_000,
    "ten thousand tags": "<b>" * 10_000,
    "ten thousand entities": "&amp;" * 10_000 + "&#x" * 5_000,
    "ten thousand rules": "---\n" * 10_000,
    "wide table": "|" + "a|" * 3_000 + "\n|" + "-|" * 3_000 + "\n|" + "1|" * 3_000,
    "many names": "filter.cir:3 v(out) " * 4_000,
    "almost names": "v(" * 20_000 + "filter." * 10_000,
}  # fmt: skip
NAMES = Names(
    files=frozenset({"filter.cir", "<img src=x onerror=window.ran=1>.cir", "a\"onmouseover='x'.cir"}),
    circuits={"filter.cir": CircuitNames(nodes=frozenset({"out"}), metrics={"<script>": "<script>"})},
)


def rows_of(number: int, text: str) -> tuple[Item, ...]:
    """The text in each place where a stranger's words stand."""
    short = text[:2_000]
    name = short[:120].replace("\n", " ")
    attachment = Attachment(kind="file", name=name, mime="text/plain", size=9, sha256="0" * 64)
    line = ChartLine(expression=name, color=0, strokes=(((1.0, 2.0), (3.0, 4.0)),))
    chart = Chart(lines=(line,), x_ends=(name, name), y_ends=(name, name))
    source = WebSource(title=name, url=name, site=name, text=short, reference=name)
    said = msg("{text}", text=short)
    return (
        UserText(key=f"u{number}", text=short, attached=(AttachedItem.of(attachment),)),
        AnswerText(key=f"a{number}", text=text, reasoning=short, model=name, sources=(source,)),
        OperationCard(key=f"o{number}", tool=name, path=name, state="failed", summary=said, problem=said),
        OperationCard(key=f"r{number}", tool="read_file", path=name, detail=name, state="done"),
        OperationCard(
            key=f"d{number}", tool="rewrite_file", path=name, state="done", standing="stands",
            diff=diff_texts("x\n", short, path=name),
        ),
        SimulationCard(
            key=f"s{number}", tool="run_simulation", path=name, state="done", summary=said, chart=chart
        ),
        Narration(key=f"n{number}", text=said),
        ErrorBlock(key=f"e{number}", message=said, advice=said, error_type=name, model=name),
    )  # fmt: skip


FORBIDDEN = frozenset(
    {
        *(
            "script",
            "iframe",
            "object",
            "embed",
            "meta",
            "base",
            "link",
            "style",
            "form",
            "input",
            "textarea",
        ),
        *("video", "audio", "img", "foreignobject", "use", "animate", "template"),
    }
)
SELECTOR = ",".join(f"#items {name}" for name in sorted(FORBIDDEN))


class _Reader(HTMLParser):
    """What elements, attributes and addresses there are."""

    def __init__(self) -> None:
        super().__init__()
        self.bad: list[tuple[str, Any]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in FORBIDDEN:
            self.bad.append((tag, attrs))
        for name, value in attrs:
            is_address = name == "href" and urlsplit(value or "").scheme not in ("http", "https", "mailto")
            if name.startswith("on") or name in ("style", "src", "srcdoc") or is_address:
                self.bad.append((tag, (name, value)))


def test_there_are_sixty_kinds() -> None:
    assert len(HOSTILE) >= 60
    assert len(set(HOSTILE.values())) == len(HOSTILE)


def batched(pairs: Iterable[tuple[str, str]], count: int) -> Iterator[list[tuple[str, str]]]:
    left = iter(pairs)
    while part := list(islice(left, count)):
        yield part


def texts(campaign: Campaign) -> dict[str, str]:
    """All kinds, in a length that the time allows."""
    return {kind: text[: campaign.count] for kind, text in HOSTILE.items()}


@campaigns(fast=2_000, whole=1_000_000)
def test_the_html_of_a_row_has_only_what_is_ours(campaign: Campaign) -> None:
    page, printed = HtmlItems(str, names=NAMES), PrintedItems(str)
    for kind, text in texts(campaign).items():
        for item in rows_of(0, text):
            reader = _Reader()
            reader.feed(shown := page(item))
            reader.feed(in_file := printed(item))
            assert (shown, in_file) == (visible(shown), visible(in_file)), (kind, type(item).__name__)
            assert not reader.bad, (kind, type(item).__name__, reader.bad)
            assert not re.search(r"<button|<[a-z][^<>\"]*( \w+=\"[^\"]*\")* data-act=", in_file)


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The addresses that either view wants to load, beside the page's own files and our drawings."""
    found: list[str] = []
    intercept, load = web_view._OnlyOurFiles.interceptRequest, plain_document.Browser.loadResource

    def intercepted(guard: Any, info: QWebEngineUrlRequestInfo) -> None:
        url = info.requestUrl()
        if url.scheme() != "qrc" and "/resources/" not in url.toLocalFile():
            found.append(url.toString())
        intercept(guard, info)

    def loaded(browser: Any, kind: int, name: QUrl) -> Any:
        if name.scheme() not in ("icon", "bar", "chart"):
            found.append(name.toString())
        return load(browser, kind, name)

    monkeypatch.setattr(web_view._OnlyOurFiles, "interceptRequest", intercepted)
    monkeypatch.setattr(plain_document.Browser, "loadResource", loaded)
    return found


@pytest.fixture
async def page(
    services: WindowServices, until: Until, asked: list[str], chromium: None
) -> AsyncIterator[WebConversation]:
    assert await WebProbe().works()
    made = WebConversation(services)
    made.names = NAMES
    made.resize(440, 600)
    made.show()
    await until(lambda: made.is_ready, timeout_s=30)
    yield made
    made.close_page()
    made.close()
    made.deleteLater()
    await asyncio.sleep(0.05)


@campaigns(fast=2_000, whole=1_000_000)
async def test_nothing_runs_or_loads_in_the_page_and_it_stays_usable(
    campaign: Campaign, page: WebConversation, asked: list[str], until: Until
) -> None:
    async def script(source: str) -> Any:
        answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        page.page.runJavaScript(source, answer.set_result)
        async with asyncio.timeout(60):
            return await answer

    acted: list[tuple[str, str, str]] = []
    page.acted.connect(lambda *what: acted.append(what))
    await script(
        "window.refused = []; document.addEventListener('securitypolicyviolation', event =>"
        " window.refused.push(event.violatedDirective + ' ' + event.blockedURI)); 1"
    )
    place = page.page.url()
    kinds = texts(campaign)
    for part in batched(kinds.items(), 10):
        rows = tuple(row for number, (_, text) in enumerate(part) for row in rows_of(number, text))
        page.apply([Reset(items=rows, place=ScrollPlace(rows[0].key))])  # all of them at once
        for number, (_, text) in enumerate(part):
            key = f"live{number}"
            page.apply([Added(item=AnswerText(key=key, text="", is_streaming=True))])
            for piece in (text[:7], text[7:]):
                page.apply([Streamed(key=key, text=piece, reasoning=piece[:500])])
        said = f"next to {part[0][0]}"
        page.apply([Added(item=UserText(key="next", text=said))])
        await until(lambda: page.is_up_to_date, timeout_s=60)
        # Everything is opened and pointed at, as a person might.
        ran, forbidden, shown = await script(
            "(() => { for (const d of document.querySelectorAll('details')) d.open = true;"
            " [...document.querySelectorAll('#items *')].slice(0, 5000).forEach(e =>"
            " e.dispatchEvent(new MouseEvent('mouseover', { bubbles: true })));"
            f" return [window.ran ?? 0, document.querySelectorAll('{SELECTOR}').length,"
            " document.querySelector('[data-key=next]').innerText]; })()"
        )
        assert (ran, forbidden) == (0, 0), [kind for kind, _ in part]
        assert said in shown
    assert await script("window.ran === undefined")
    assert asked == []
    assert page.page.url() == place
    assert acted == []
    assert await script("window.refused") == []


@campaigns(fast=2_000, whole=100_000)
async def test_nothing_loads_in_the_plain_view_and_it_stays_usable(
    campaign: Campaign, services: WindowServices, asked: list[str]
) -> None:
    view = PlainConversation(services)
    view.names = NAMES
    view.resize(440, 600)
    for number, (kind, text) in enumerate(texts(campaign).items()):
        view.apply([Reset(items=rows_of(number, text))])
        while view._slices.isActive():  # also what is drawn in later turns of the loop
            view._show_slice()
        view.apply([Added(item=AnswerText(key="live", text="", is_streaming=True))])
        for piece in (text[:7], text[7:], "\n\nand what follows"):
            view.apply([Streamed(key="live", text=piece, reasoning=piece[:500])])
        view.apply([Added(item=UserText(key="next", text=f"next {number}"))])
        assert f"next {number}" in view.text, kind
        assert visible(view.text) == view.text, kind
        for address in links(view):
            is_act = address.split("/")[0] in _ACTS
            assert is_act or urlsplit(address).scheme in ("http", "https", "mailto"), (kind, address)
        document(view).size()  # laid out: what is to be loaded has been asked for
    assert asked == []


_ACTS = (
    *("open", "trace", "measure", "plot", "undo", "fold", "log", "copy", "edit", "again", "attachment"),
    *("insert_code", "run_code", "copy_code", "retry", "model", "offline", "give_up", "switch", "run_again"),
    "pieces",
    "branch",
)
