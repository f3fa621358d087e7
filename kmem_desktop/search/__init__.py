"""Pure search: query text to expression, ranking, explanation."""
