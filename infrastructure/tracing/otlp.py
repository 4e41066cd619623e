"""Spans in the form other tools read: OTLP/JSON.

Encoded by OpenTelemetry's own library; its JSON differs from protobuf's usual one in that ids are
hexadecimal (opentelemetry.io/docs/specs/otlp, "JSON Protobuf Encoding").
"""

from __future__ import annotations

import base64
import json
from collections.abc import Sequence
from typing import Any

from google.protobuf.json_format import MessageToDict
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.util.instrumentation import InstrumentationScope
from opentelemetry.trace import SpanContext, Status, StatusCode, TraceFlags

from application.ports.tracing import ERROR_TYPE, KeptSpan

_IDS = frozenset({"traceId", "spanId", "parentSpanId"})
_STATUS = {"ok": StatusCode.OK, "error": StatusCode.ERROR}


def otlp_json(spans: Sequence[KeptSpan]) -> str:
    """The spans as one OTLP/JSON document.

    A span that has no end - it still runs, or its program was killed - ends when the last thing in its
    trace happened, and says `circuit_design_ai.unfinished`.
    """
    last: dict[str, int] = {}
    for span in spans:
        last[span.trace_id] = max(last.get(span.trace_id, 0), span.ended_ns or span.started_ns)
    request = encode_spans([_readable(span, last[span.trace_id]) for span in spans])
    document = MessageToDict(request, use_integers_for_enums=True)
    return json.dumps(_with_hexadecimal_ids(document), ensure_ascii=False, indent=1)


def _readable(span: KeptSpan, last_ns: int) -> ReadableSpan:
    attributes = dict(span.attributes)
    if span.error_type:
        attributes[ERROR_TYPE] = span.error_type
    if span.ended_ns is None:
        attributes["circuit_design_ai.unfinished"] = True
    return ReadableSpan(
        name=span.name,
        context=_context(span.trace_id, span.span_id),
        parent=_context(span.trace_id, span.parent_id) if span.parent_id else None,
        resource=Resource({"service.name": "circuit-design-ai"}),
        attributes=attributes,
        status=Status(_STATUS.get(span.status, StatusCode.UNSET)),
        start_time=span.started_ns,
        end_time=span.ended_ns if span.ended_ns is not None else max(last_ns, span.started_ns),
        instrumentation_scope=InstrumentationScope("circuit_design_ai"),
    )


def _context(trace_id: str, span_id: str) -> SpanContext:
    return SpanContext(int(trace_id, 16), int(span_id, 16), is_remote=False, trace_flags=TraceFlags(1))


def _with_hexadecimal_ids(node: Any) -> Any:
    if isinstance(node, list):
        return [_with_hexadecimal_ids(item) for item in node]
    if not isinstance(node, dict):
        return node
    return {
        key: base64.b64decode(value).hex() if key in _IDS else _with_hexadecimal_ids(value)
        for key, value in node.items()
    }
