"""The web search against engines on the loopback: how each is asked, and whatever may come back."""

from __future__ import annotations

import asyncio
import gzip
import json
import re
import socket
import unicodedata
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from domain.llm.service import NetworkSettings
from domain.llm.web_search import WebSearchError, WebSearchSettings
from infrastructure.persistence.credentials import Credentials
from infrastructure.web_search.client import LARGEST_ANSWER, SearchClient, plain_text, sources_of
from infrastructure.web_search.engines import ENGINES
from infrastructure.web_search.registry import SearchEngines
from shared.errors import UserInputError
from tests.fakes.search_server import Reply, SearchServer, found, pages
from tests.ground.campaign import Campaign, campaigns

KEY = "canary-key-0123456789"
URL = "https://example.org/opa"
ANSWERS: dict[str, Any] = {
    "searxng": {"results": [{"title": "OPA", "url": URL, "content": "quiet", "publishedDate": "2024-05-01"}]},
    "brave": {"web": {"results": [{"title": "OPA", "url": URL, "description": "<strong>quiet</strong>",
                                   "page_age": "2024-05-01T10:00:00"}]}},
    "tavily": {"results": [{"title": "OPA", "url": URL, "content": "quiet", "published_date": "2024-05-01"}]},
    "zhipu": {"search_result": [{"title": "OPA", "link": URL, "content": "quiet", "media": "TI",
                                 "publish_date": "2024-05-01"}]},
    "bocha": {"code": 200, "data": {"webPages": {"value": [
        {"name": "OPA", "url": URL, "summary": "quiet", "datePublished": "2024-05-01T00:00:00+08:00"}]}}},
    "google": {"items": [{"title": "OPA", "link": URL, "snippet": "quiet", "displayLink": "example.org"}]},
}  # fmt: skip
ASKED: dict[str, tuple[str, str, str, dict[str, Any]]] = {
    "searxng": ("GET", "/search", "", {"q": "quiet opamp", "format": "json"}),
    "brave": ("GET", "/web/search", "x-subscription-token", {"q": "quiet opamp", "count": "3"}),
    "tavily": ("POST", "/search", "authorization", {"query": "quiet opamp", "max_results": 3}),
    "zhipu": ("POST", "/web_search", "authorization", {"search_query": "quiet opamp", "count": 3}),
    "bocha": ("POST", "/web-search", "authorization", {"query": "quiet opamp", "count": 3}),
    "google": ("GET", "/customsearch/v1", "x-goog-api-key", {"q": "quiet opamp", "num": "3", "cx": "my-cx"}),
}


def engines(home: Path, **environment: str) -> SearchEngines:
    return SearchEngines(environment=environment, keys=Credentials(user_home=home, environment=environment))


@pytest.mark.parametrize("name", ENGINES)
async def test_each_engine_is_asked_in_its_own_way(name: str, tmp_path: Path) -> None:
    method, path, key_header, fields = ASKED[name]
    variables = {variable: KEY} if (variable := ENGINES[name].key_variable) else {}
    with SearchServer([found(ANSWERS[name])]) as server:
        settings = WebSearchSettings(engine=name, base_url=server.url, engine_id="my-cx")
        answer = await engines(tmp_path, **variables).search("quiet opamp", settings, count=3)
        (asked,) = server.asked
    assert (asked.method, asked.path) == (method, path)
    assert fields.items() <= asked.fields.items()
    assert KEY not in str(asked.fields)
    assert [header for header, value in asked.headers.items() if KEY in value] == [key_header] * bool(
        key_header
    )
    (page,) = answer.sources
    assert (page.title, page.url, page.text) == ("OPA", URL, "quiet")
    assert page.date == ("" if name == "google" else "2024-05-01")
    # Each row says where its facts are from, and when they were read.
    assert ENGINES[name].source
    assert ENGINES[name].checked >= "2026-11"


def packed(body: bytes, how: str = "gzip") -> Reply:
    return Reply(body=body, headers={"Content-Encoding": how})


def moved(place: str) -> Reply:
    return Reply(status=302, headers={"Location": place})


HTML = b"<!doctype html><html><head><title>SearXNG</title></head><body>results</body></html>"
HOSTILE: dict[str, tuple[Reply, str, str]] = {
    "a page in place of JSON": (Reply(body=HTML), "bad_response", "settings.yml"),
    "JSON is not on": (Reply(status=403, body=HTML), "forbidden", "settings.yml"),
    "a password is wanted": (Reply(status=401, body=b"who are you"), "forbidden", "requires a password"),
    "no such path": (Reply(status=404), "bad_request", "address"),
    "the server breaks": (Reply(status=500, body=b"Traceback"), "server_error", "Try again"),
    "10 MB": (Reply(body=b'{"results": [' + b" " * 10_000_000), "too_large", "address"),
    "a bomb": (packed(gzip.compress(b" " * 20_000_000)), "too_large", "address"),
    "no gzip": (packed(b"not packed"), "bad_response", "address"),
    "an unknown packing": (packed(b"x", "br"), "bad_response", "address"),
    "a list": (Reply(body=b"[1, 2]"), "bad_response", "address"),
    "results that are none": (Reply(body=b'{"results": {"a": 1}}'), "bad_response", "address"),
    "something else": (Reply(body=b'{"hello": "world"}'), "bad_response", "address"),
    "half of it": (Reply(body=b'{"results": [{"title": "OPA"'), "bad_response", "address"),
    "nothing": (Reply(), "bad_response", "address"),
    "nested": (Reply(body=b'{"results": ' + b"[" * 100_000), "bad_response", "address"),
    "a connection that breaks": (Reply(body=b'{"results": [', drops=True), "connection_lost", "Try again"),
    "silence": (Reply(is_silent=True), "timeout", "Try again"),
    "to the metadata of a cloud": (moved("http://169.254.169.254/latest"), "moved", "169.254.169.254"),
    "to a file": (moved("file:///etc/passwd"), "moved", "file:///etc/passwd"),
    "to another port": (moved("http://127.0.0.1:1/search"), "moved", "127.0.0.1:1"),
    "to no address": (moved("http://[::1"), "bad_response", "address"),
    "to a user's name": (moved("//me@127.0.0.1/"), "moved", "me@127.0.0.1"),
    "round and round": (moved("{url}/search"), "moved", "address"),
}  # fmt: skip


@pytest.mark.parametrize("what", HOSTILE)
async def test_whatever_comes_is_told_with_what_to_do(what: str) -> None:
    reply, kind, advice = HOSTILE[what]
    with SearchServer([reply]) as server:
        client = SearchClient(ENGINES["searxng"], base_url=server.url, total_s=0.3 if reply.is_silent else 10)
        with pytest.raises(WebSearchError) as raised:
            await client.search("q", count=3)
        assert raised.value.kind == kind, raised.value.message
        assert advice in str(raised.value.advice)
        assert len(server.asked) <= 4
        if kind == "too_large":
            assert server.sent < 10_000_000  # the rest was not waited for
    assert raised.value.error_type == f"web_search_{kind}"
    assert len(str(raised.value.message)) < 600


async def test_a_server_may_move_within_itself_and_no_key_goes_along() -> None:
    there = Reply(status=301, headers={"Location": "/find?q=quiet&format=json"})
    with SearchServer([there, pages()]) as server:
        answer = await SearchClient(ENGINES["searxng"], base_url=server.url).search("quiet", count=5)
        assert [asked.path for asked in server.asked] == ["/search", "/find"]
    assert len(answer.sources) == 2
    assert answer.silent == ("google",)
    with SearchServer([there]) as server, pytest.raises(WebSearchError) as raised:
        await SearchClient(ENGINES["brave"], base_url=server.url, key=KEY).search("quiet", count=5)
    assert raised.value.kind == "moved"
    assert len(server.asked) == 1


async def test_it_goes_through_the_proxy_of_the_settings_but_never_to_this_computer() -> None:
    with SearchServer([pages()]) as proxy, SearchServer([pages()]) as here:
        network = NetworkSettings(proxy=proxy.url)
        for base_url in ("http://searx.example", here.url):
            client = SearchClient(ENGINES["searxng"], base_url=base_url, network=network)
            assert len((await client.search("q", count=1)).sources) == 1
        assert [asked.headers["host"] for asked in proxy.asked] == ["searx.example"]
        assert len(here.asked) == 1


async def test_an_engine_that_asks_for_a_pause_is_left_alone_until_then() -> None:
    now = [100.0]
    busy = Reply(status=429, headers={"Retry-After": "7"}, body=b'{"message": "slow down"}')
    with SearchServer([busy, pages()]) as server:
        client = SearchClient(ENGINES["searxng"], base_url=server.url, clock=lambda: now[0])
        for wait in ("7", "5"):
            with pytest.raises(WebSearchError) as raised:
                await client.search("q", count=1)
            assert raised.value.kind == "rate_limited"
            assert f"wait {wait} s" in str(raised.value.advice)
            now[0] += 2
        assert len(server.asked) == 1
        now[0] = 107.5
        assert len((await client.search("q", count=1)).sources) == 1


@pytest.mark.parametrize(
    ("encoding", "content_type", "title"),
    [
        ("utf-8", "application/json", "运算放大器"),
        ("gbk", "application/json; charset=GBK", "运算放大器"),
        ("latin-1", "application/json; charset=iso-8859-1", "Verstärker"),
        ("utf-8-sig", "application/json", "Verstärker"),
        ("latin-1", "application/json", "Verst�rker"),
        ("latin-1", "application/json; charset=punycode", "Verst�rker"),
    ],
)
async def test_answers_in_any_encoding(encoding: str, content_type: str, title: str) -> None:
    text = json.dumps({"results": [{"title": title.replace("�", "ä"), "url": URL}]}, ensure_ascii=False)
    reply = Reply(body=text.encode(encoding), headers={"Content-Type": content_type})
    with SearchServer([reply]) as server:
        (page,) = (await SearchClient(ENGINES["searxng"], base_url=server.url).search("q", count=1)).sources
    assert page.title == title


async def test_a_stopped_search_closes_its_connection() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        client = SearchClient(ENGINES["searxng"], base_url=f"http://127.0.0.1:{listening.getsockname()[1]}")
        search = asyncio.create_task(client.search("q", count=1))
        connection, _ = await asyncio.to_thread(listening.accept)
        with connection:
            assert b"GET /search?q=q" in await asyncio.to_thread(connection.recv, 4096)
            search.cancel()
            with pytest.raises(asyncio.CancelledError):
                await search
            assert await asyncio.to_thread(connection.recv, 1) == b""


async def test_what_is_missing_is_said_before_anything_is_sent(tmp_path: Path) -> None:
    plain = engines(tmp_path)
    for settings, error_type, advice in (
        (WebSearchSettings(), "no_search_engine", "CIRCUIT_AI_SEARXNG_BASE_URL"),
        (WebSearchSettings(engine="bing"), "unknown_search_engine", "searxng, brave"),
        (WebSearchSettings(engine="google"), "no_search_engine_id", "--search-id"),
        (WebSearchSettings(base_url="file:///etc/passwd"), "bad_url", "https://HOST"),
        (WebSearchSettings(base_url="http://me:secret@host"), "bad_url", "https://HOST"),
        (WebSearchSettings(base_url="http://host:99999"), "bad_url", "https://HOST"),
    ):
        with pytest.raises(UserInputError) as raised:
            await plain.search("q", settings, count=1)
        assert raised.value.error_type == error_type
        assert advice in str(raised.value.advice)
    with pytest.raises(WebSearchError, match="no key") as missing:
        await plain.search("q", WebSearchSettings(engine="brave"), count=1)
    assert "providers key set brave" in str(missing.value.advice)
    # As people copy it from their browser.
    copied = WebSearchSettings(base_url="http://searx.example.org:8080/search?q=%s&format=html")
    assert plain.server(copied) == "http://searx.example.org:8080"


def test_markup_and_what_nobody_sees_are_taken_out() -> None:
    cases = {
        "<b>LM358</b> &amp; friends": "LM358 & friends",
        "a<script>alert(1)</script>b": "a b",
        "&lt;img src=x onerror=alert(1)&gt;": "",
        "&amp;lt;iframe src=//evil&amp;gt; x": "x",
        "<scr<script></script>ipt>alert(1)": "<scr ipt>alert(1)",
        "<svg/onload=alert(1)>x": "x",
        "<!-- hidden -->seen": "seen",
        "Vgs < Vth and Id > 3 mA": "Vgs < Vth and Id > 3 mA",
        "tag\U000e0041\U000e0042 and \u202eturned\u2066 \x1b[31mred": "tag and turned [31mred",
        "  many \n\t lines ": "many lines",
    }
    assert {text: plain_text(text, 100) for text in cases} == cases
    assert len(plain_text("x" * 50_000, 120)) == 120


NOISE = (
    *("<", ">", "</", "&lt;", "&#60;", "<!--", "-->", "script", " src=", "</data>", "img ", "/a"),
    *("\x00", "\u202e", "\ud83d", "\U000e0041", "运放", "LM358", "\n", '"', "'"),
    *("javascript:", "https://", "//", "@", "?q=", "[1]", ":99", "\\"),
)


@campaigns(fast=150, whole=30_000)
def test_whatever_strangers_write_becomes_plain_lines(campaign: Campaign) -> None:
    for rng in campaign.cases():
        name = rng.choice(list(ENGINES))
        text = json.dumps(ANSWERS[name], ensure_ascii=False)
        for word in (URL, "quiet", "OPA"):
            noise = "".join(rng.choices(NOISE, k=rng.randint(0, 40)))
            text = text.replace(word, json.dumps(word * rng.randint(0, 1) + noise)[1:-1])
        for page in sources_of(json.loads(text), ENGINES[name], count=5):
            assert page.url.startswith(("http://", "https://"))
            assert urlsplit(page.url).username is None
            assert not set(page.url) & set("<>\"' \n\\\x00\u202e")
            for line in (page.title, page.text, page.site, page.date):
                assert "\n" not in line
                assert not any(unicodedata.category(char).startswith("C") for char in line)
                assert not re.search(r"</?(?:script|img|a|iframe)[\s/>]", line, re.IGNORECASE)
            assert len(page.title) <= 120
            assert len(page.text) <= 400


def test_only_pages_that_can_be_opened_are_kept_once_each() -> None:
    urls = [
        "https://a.example/1", "https://a.example/1", "http://b.example:8080/x", "javascript:alert(1)",
        "file:///etc/passwd", "data:text/html,x", "https://user@evil.example/", "https://e.example/<b>",
        "//no.scheme/", "https://", "https://[::1", "https://h.example/a b", "https://p.example:99999/",
        f"https://long.example/{'x' * 600}", "https://r.example/\u202egnp", None, 7,
    ]  # fmt: skip
    rows = [{"title": "", "url": url, "content": {"not": "text"}} for url in urls]
    kept = sources_of({"results": [*rows, "no row", None]}, ENGINES["searxng"], count=10)
    assert [source.url for source in kept] == ["https://a.example/1", "http://b.example:8080/x"]
    assert kept[0].title == "a.example"  # a page without a title is known by its host
    assert LARGEST_ANSWER == 2**20
