"""What is shipped into Spark: the plugin's jar, its settings, and how they are merged with the user's own."""
