"""The paper's Condition C, and the rates and bounds of its theorems."""

from .conditions import ConditionC, logistic_condition, restricted_eigenvalues

__all__ = ["ConditionC", "logistic_condition", "restricted_eigenvalues"]
