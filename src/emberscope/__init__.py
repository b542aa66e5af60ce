"""Emberscope: why an Apache Spark job is slow, dies or costs too much."""

__version__ = "0.1.0"
