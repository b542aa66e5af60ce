"""Cases of managed clusters: what EMR's own services, Livy and YARN say, beside Spark."""
