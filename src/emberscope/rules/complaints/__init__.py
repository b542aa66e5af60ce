"""Slow jobs told in plain words, where no log is at hand: what it probably is, and what would tell for sure."""
