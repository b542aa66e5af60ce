"""The vocabulary: one file per table, each column with type, unit, meaning and source. Everyone knows the tables."""
