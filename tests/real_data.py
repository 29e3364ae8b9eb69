"""Tests of real data, which are not part of the project."""

import os

import pytest

needs_data = pytest.mark.skipif("KSPARSE_DATA" not in os.environ, reason="KSPARSE_DATA names no folder of real data")
