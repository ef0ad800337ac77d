"""Benchmarks: ratios to a limit or a rival measured in the same run."""
