"""Logs of drivers, executors, containers and cluster managers: text to typed events on one clock."""
