"""Family B: tasks of one stage that are not alike, and nodes that are not alike."""
