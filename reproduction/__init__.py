"""The experiments of "Gradient Hard Thresholding Pursuit", reproduced: ``python -m reproduction --quick``."""
