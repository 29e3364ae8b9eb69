"""The paper's Condition C, and what its theorems promise from its constants."""

from .conditions import ConditionC, logistic_condition, restricted_eigenvalues

__all__ = ["ConditionC", "logistic_condition", "restricted_eigenvalues"]
