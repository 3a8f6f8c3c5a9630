"""Offices, which carry out mails in the process of the test."""

from contextlib import ExitStack

import pytest

from tests.fakes.office import FakeOffice


@pytest.fixture
def make_office():
    with ExitStack() as stack:

        def make(**settings):
            office = FakeOffice(**settings)
            stack.callback(office.close)
            return office

        yield make


@pytest.fixture
def office(make_office):
    return make_office()
