"""Bytes of a Spark event log in, tables of tasks, stages, jobs, executors and SQL executions out."""
