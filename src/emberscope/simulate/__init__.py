"""The scheduler model: what a change would be worth in wall time, by replaying the task trace."""
