"""Family F: what the SQL plan and the functions in it cost."""
