"""Family E: reading and writing of files and tables."""
