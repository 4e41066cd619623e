"""Which addresses name this very computer, so that no proxy may come between."""

from __future__ import annotations

import socket
from ipaddress import ip_address
from urllib.parse import urlsplit


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


def _full_form(host: str) -> str:
    """`host` with all four numbers when it is a short form as 127.1."""
    if not host or ":" in host or host.strip("0123456789.xabcdefABCDEF"):
        return host
    try:
        return socket.inet_ntoa(socket.inet_aton(host))
    except OSError:
        return host
