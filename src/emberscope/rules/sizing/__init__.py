"""Rules on the shape of executors: memory, cores, containers and nodes."""
