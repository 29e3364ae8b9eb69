"""Reports of the tests take few resamples, as in the tests of the command."""

from tests.cli.conftest import take_few_resamples

__all__ = ["take_few_resamples"]
