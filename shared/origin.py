"""The origin of an address: scheme, host and port (RFC 6454), in a form two look-alikes can't share."""

from __future__ import annotations

from urllib.parse import urlsplit

_USUAL_PORT = {"http": 80, "https": 443}


def origin_of(url: str) -> str:
    """Scheme, host and port of an address, "" when it names none.

    The host in the form that is asked for on the network (RFC 3490, ``xn--...``), so that letters which only
    look like others are seen; a user name in front of it, which could pass for a host, is not part of it.
    """
    try:
        parts = urlsplit(url.strip())
        host, port = (parts.hostname or "").rstrip("."), parts.port
    except ValueError:
        return ""
    if not host:
        return ""
    if not host.isascii():
        try:
            host = host.encode("idna").decode("ascii")
        except UnicodeError:
            host = host.encode("ascii", "backslashreplace").decode("ascii")
    scheme = parts.scheme.lower()
    shown = f"[{host}]" if ":" in host else host
    return f"{scheme}://{shown}" + ("" if port in (None, _USUAL_PORT.get(scheme)) else f":{port}")


def host_of(url: str) -> str:
    """Host and port of an address, as `origin_of` has them."""
    return origin_of(url).rpartition("//")[2]
