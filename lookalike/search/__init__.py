"""Find and explain: one ranking for every door."""
