"""The paper, on arrays only."""
