"""Models that other programs and services serve, reached by HTTP."""
