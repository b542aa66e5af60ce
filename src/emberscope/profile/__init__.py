"""Samples to call trees: attribute, slice, fold, merge, classify, pack; and the formats other tools read."""
