"""Diagnoses: one file each, pure functions of a run's tables."""
