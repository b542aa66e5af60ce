"""From findings to one coherent change of settings, and the dialects in which it is written down."""
