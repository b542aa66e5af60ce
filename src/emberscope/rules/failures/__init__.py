"""Family K: failures that logs, event logs and cluster managers tell in words."""
