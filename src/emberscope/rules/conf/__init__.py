"""Rules on settings: names, switches that belong together, and the log itself."""
