"""Family H: executors that come and go, tasks and jobs that fail, and events that were lost."""
