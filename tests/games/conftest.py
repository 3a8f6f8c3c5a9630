"""A failed assertion is told in full in what the tests of the games share, too."""

import pytest

pytest.register_assert_rewrite("tests.games.playing", "tests.games.svg_pictures")
