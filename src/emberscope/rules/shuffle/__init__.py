"""Family D: what travels between stages."""
