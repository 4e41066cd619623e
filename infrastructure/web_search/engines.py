"""The engines, each as a row of data: where it is, how it is asked, what its answer looks like.

`checked` is when the `source` was read. Left out because it is gone: Bing (its search API was retired on
2025-08-11).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from shared.message import Message, msg

Names = tuple[str, ...]
"""Fields in which something may stand; the first that has it counts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchEngine:
    """One engine."""

    name: str
    title: str
    source: str
    checked: str
    path: str
    """Behind the base URL."""
    results: Names
    """Where the list of pages is in its answer, a field inside a field."""
    title_field: Names
    url_field: Names
    text_field: Names
    date_field: Names
    site_field: Names = ()
    base_url: str = ""
    """"" = a server of the user's own."""
    method: Literal["GET", "POST"] = "GET"
    query_field: str = "q"
    count_field: str = ""
    """"" = it can't be told how many pages are wanted."""
    id_field: str = ""
    """For the id of a search engine of the user's."""
    fields: Mapping[str, Any] = field(default_factory=dict)
    """Sent with every query."""
    longest_query: int = 400
    key_header: str = ""
    """"" = it takes no key."""
    key_prefix: str = ""
    key_name: str = ""
    """Under which its key is kept, when it is that of a provider of models."""
    key_page: str = ""
    follows_redirects: bool = False
    """Within one host: a server of one's own may have moved to https. Never where a key goes along."""
    note: Message | None = None

    @property
    def key_place(self) -> str:
        """The name of its key in the key store; "" when it takes none."""
        return (self.key_name or self.name) if self.key_header else ""

    @property
    def key_variable(self) -> str:
        """The environment variable of its key; "" when it takes none."""
        return f"CIRCUIT_AI_{self.key_place.upper()}_API_KEY" if self.key_header else ""

    @property
    def url_variable(self) -> str:
        """The environment variable of its address."""
        return f"CIRCUIT_AI_{(self.key_name or self.name).upper()}_BASE_URL"


_ROWS = (
    SearchEngine(
        name="searxng",
        title="SearXNG",
        source="docs.searxng.org/dev/search_api",
        checked="2026-11-22",
        path="/search",
        fields={"format": "json"},
        results=("results",),
        title_field=("title",),
        url_field=("url",),
        text_field=("content",),
        date_field=("publishedDate", "pubdate"),
        follows_redirects=True,
        note=msg("Your own server or one you trust; it needs no key, but must allow JSON."),
    ),
    SearchEngine(
        name="brave",
        title="Brave Search",
        source="api-dashboard.search.brave.com/documentation",
        checked="2026-11-22",
        base_url="https://api.search.brave.com/res/v1",
        path="/web/search",
        count_field="count",
        fields={"text_decorations": "false", "result_filter": "web"},
        results=("web", "results"),
        title_field=("title",),
        url_field=("url",),
        text_field=("description",),
        date_field=("page_age", "age"),
        key_header="X-Subscription-Token",
        key_page="https://api-dashboard.search.brave.com/app/keys",
    ),
    SearchEngine(
        name="tavily",
        title="Tavily",
        source="github.com/tavily-ai/tavily-python tavily/tavily.py",
        checked="2026-11-22",
        base_url="https://api.tavily.com",
        path="/search",
        method="POST",
        query_field="query",
        count_field="max_results",
        fields={"search_depth": "basic"},
        results=("results",),
        title_field=("title",),
        url_field=("url",),
        text_field=("content",),
        date_field=("published_date",),
        key_header="Authorization",
        key_prefix="Bearer ",
        key_page="https://app.tavily.com",
    ),
    SearchEngine(
        name="zhipu",
        title="Zhipu Web Search API",
        source="docs.bigmodel.cn/api-reference",
        checked="2026-11-22",
        base_url="https://open.bigmodel.cn/api/paas/v4",
        path="/web_search",
        method="POST",
        query_field="search_query",
        count_field="count",
        fields={"search_engine": "search_std", "search_intent": False},
        longest_query=70,
        results=("search_result",),
        title_field=("title",),
        url_field=("link",),
        text_field=("content",),
        date_field=("publish_date",),
        site_field=("media",),
        key_header="Authorization",
        key_prefix="Bearer ",
        key_page="https://open.bigmodel.cn/usercenter/apikeys",
        note=msg("For every model, not only Zhipu's; it uses the key of the provider zhipu."),
    ),
    SearchEngine(
        name="bocha",
        title="Bocha",
        source="github.com/BochaAI/bocha-search-mcp server.py",
        checked="2026-11-22",
        base_url="https://api.bochaai.com/v1",
        path="/web-search",
        method="POST",
        query_field="query",
        count_field="count",
        fields={"summary": True, "freshness": "noLimit"},
        results=("data", "webPages", "value"),
        title_field=("name",),
        url_field=("url",),
        text_field=("summary", "snippet"),
        date_field=("datePublished", "dateLastCrawled"),
        site_field=("siteName",),
        key_header="Authorization",
        key_prefix="Bearer ",
        key_page="https://open.bochaai.com",
    ),
    SearchEngine(
        name="google",
        title="Google Custom Search",
        source="developers.google.com/custom-search/v1/overview",
        checked="2026-11-22",
        base_url="https://www.googleapis.com",
        path="/customsearch/v1",
        count_field="num",
        id_field="cx",
        results=("items",),
        title_field=("title",),
        url_field=("link",),
        text_field=("snippet",),
        date_field=(),
        site_field=("displayLink",),
        # Not in the address, as in its documentation: addresses land in the logs of proxies.
        key_header="X-goog-api-key",
        key_page="https://console.cloud.google.com/apis/credentials",
        note=msg("Existing customers only; it ends on 2027-01-01."),
    ),
)

ENGINES: Mapping[str, SearchEngine] = {row.name: row for row in _ROWS}

RETIRED: Mapping[str, Message] = {
    "bing": msg("Bing's search API was retired on 2025-08-11."),
}
"""What people may still ask for by name, and why it is not there."""
