"""Rules about what is kept, and what should be."""
