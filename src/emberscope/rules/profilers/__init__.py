"""Troubles of profilers themselves: recordings that are not made, cannot be read, or show less than they seem to."""
