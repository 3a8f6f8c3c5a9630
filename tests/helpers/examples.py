"""How many examples are tried: a sample in each run, and far more by hand.

.venv/bin/pytest tests --hypothesis-profile=full
"""

from hypothesis import settings

FULL = settings.get_current_profile_name() == "full"
"""Whether the run is one by hand, with the full counts."""


def examples(sample: int, full: int) -> settings:
    """So many examples, or with the profile `full` as many as that."""
    return settings(max_examples=full if FULL else sample)
