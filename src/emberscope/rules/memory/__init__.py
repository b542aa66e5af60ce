"""Family C: heap, execution memory and cache."""
