"""Answers for people and machines: where the time went, findings, and one self-contained page."""
