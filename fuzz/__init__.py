"""Hostile checks of ksparse against truth: ``python -m fuzz``. Not part of the package."""
