"""Traces of turns: OpenTelemetry spans in a project's own SQLite file."""
