"""From any path a user gives to what it is (told by content, never by name) and to the tables it holds."""
