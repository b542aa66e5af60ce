"""What Spark's settings are: names, types, ranges and versions, as Spark itself registers them."""
