"""`emberscope calc`: sizes of file splits, containers on a node, shapes of executors: arithmetic, without a log."""

from __future__ import annotations

import click

from emberscope.cli.calc_nodes import packing, sizing
from emberscope.cli.calc_split import split


@click.group(
    epilog="""\b
Examples:
  emberscope calc split 3500x116m --cores 15837 --spark 2.4
  emberscope calc packing c5.12xlarge r5.8xlarge --executor-memory 4743m --executor-cores 3
  emberscope calc sizing r5.8xlarge --nodes 10 --heap-per-task 4g
"""
)
def command() -> None:
    """How Spark cuts files into tasks, how many executors a node takes, and which shape of executor fills it."""


for _verb in (split, packing, sizing):
    command.add_command(_verb)
