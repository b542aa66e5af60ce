"""Rules over recorded profiles: what the stacks of tasks say."""
