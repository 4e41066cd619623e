"""Addresses of servers: read strictly, and whether they name this very computer (no proxy comes between)."""

from __future__ import annotations

import socket
from ipaddress import ip_address
from urllib.parse import SplitResult, urlsplit

from shared.errors import UserInputError
from shared.late_patterns import late_pattern
from shared.message import Message, msg

_ENDPOINT = "/chat/completions"
_SCHEME = late_pattern(r"[A-Za-z][A-Za-z0-9+.-]*:/+")


def is_loopback(url: str) -> bool:
    """Whether an address names this very computer, whatever it resolves to elsewhere."""
    host = (urlsplit(url).hostname or "").rstrip(".")
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        address = ip_address(_full_form(host))
    except ValueError:
        return False
    address = getattr(address, "ipv4_mapped", None) or address
    return address.is_loopback or address.is_unspecified


def is_plain(url: str) -> bool:
    """Whether what is sent to an address is not encrypted, so that no certificate is looked at."""
    return urlsplit(url).scheme == "http"


def _full_form(host: str) -> str:
    """`host` with all four numbers when it is a short form as 127.1."""
    if not host or ":" in host or host.strip("0123456789.xabcdefABCDEF"):
        return host
    try:
        return socket.inet_ntoa(socket.inet_aton(host))
    except OSError:
        return host


def checked_base_url(url: str) -> str:
    """A server's address without a slash or ``/chat/completions`` at its end.

    Raises UserInputError ("bad_url") for what is no http(s) address of a host, or holds a password or a
    query.
    """
    parts = _split(url)
    if parts is None or parts.scheme.lower() not in ("http", "https") or not parts.hostname:
        raise _bad_url(
            msg("{url} is not a server address.", url=without_password(url)),
            msg("Write it as http://HOST:PORT/v1 or https://HOST/v1."),
        )
    if parts.username is not None or parts.password is not None:
        raise _bad_url(
            msg("The server address contains a user name or password."),
            msg("Remove it from the address; the key belongs in the environment variable."),
        )
    if parts.query or parts.fragment:
        raise _bad_url(
            msg(
                "{url} has a part after “?” or “#”, which a base address cannot have.",
                url=parts._replace(query="", fragment="").geturl(),  # some write their key there
            ),
            msg("Give the address only up to, not including, /chat/completions."),
        )
    return url.rstrip("/").removesuffix(_ENDPOINT).rstrip("/")


def _split(url: str) -> SplitResult | None:
    """The parts of an address; None for one with a port that is none, or with blanks in it."""
    if not url.isprintable() or " " in url:
        return None
    try:
        parts = urlsplit(url)
        return parts if parts.port is None or parts.port > 0 else None
    except ValueError:
        return None


def _bad_url(message: Message, advice: Message) -> UserInputError:
    return UserInputError(message, advice=advice, error_type="bad_url")


def without_password(url: str) -> str:
    """An address fit to be shown: whatever stands before an "@" might be a password, also in one that is no
    address, as with a slash in the password."""
    before, at, rest = url.rpartition("@")
    scheme = _SCHEME.match(before)
    return f"{scheme[0] if scheme else ''}***@{rest}" if at else url
