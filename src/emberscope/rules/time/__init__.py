"""Family A: time, scaling and use of cores."""
