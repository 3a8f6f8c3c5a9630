"""The full count, by hand: `pytest tests/model --hypothesis-profile=full -s`."""

from hypothesis import settings

settings.register_profile("full")
