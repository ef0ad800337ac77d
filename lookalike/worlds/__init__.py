"""Drawn faces: people who never existed, filmed for demo, tests, scale."""
