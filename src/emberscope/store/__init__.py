"""Runs at rest: where a run's recordings, event log, tables and findings lie, and how they are written."""
