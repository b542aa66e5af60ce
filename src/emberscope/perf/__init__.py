"""Readers of profiles that are text: collapsed stacks and the output of `perf script`."""
