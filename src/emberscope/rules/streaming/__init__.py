"""Structured streaming: queries that cannot keep up, keep too much, or run for nothing."""
