"""Notices in words: each kind, for its own player and about others, in both languages."""

import pytest

from infra.languages.wording import wording
from infra.projections.notices import NoticeKind
from services.words.news import NewsSubject, news_text

ENGLISH, GERMAN = wording("en"), wording("de")


def said(kind, words=ENGLISH, verdict="", *, current=True, **more):
    subject = NewsSubject(kind, "Halves", ("bob", "carol"), "bob", **more)
    return news_text(subject, verdict, words, current=current)


@pytest.mark.parametrize("kind", list(NoticeKind))
def test_each_kind_has_a_sentence_of_its_own_in_both_languages(kind):
    english, german = said(kind, offer="draw"), said(kind, GERMAN, offer="draw")
    assert english != german
    assert not english.endswith(".")
    assert "%(" not in english + german
    assert "bob" in english


def test_a_turn_that_was_taken_is_said_as_past():
    assert said(NoticeKind.YOUR_TURN) == "Your turn in Halves against bob and carol"
    past = said(NoticeKind.YOUR_TURN, current=False)
    assert past == "It was your turn in Halves against bob and carol"


def test_who_ran_out_of_time_reads_it_about_oneself():
    assert said(NoticeKind.FLAGGED, own=True).startswith("You ran out of time in Halves")
    assert said(NoticeKind.FLAGGED).startswith("bob ran out of time in Halves")


@pytest.mark.parametrize(
    ("verdict", "words"),
    [("won", "You won Halves"), ("lost", "You lost Halves"), ("drawn", "Draw in Halves")],
)
def test_the_end_is_said_for_its_reader(verdict, words):
    assert said(NoticeKind.OVER, verdict=verdict).startswith(words)


def test_several_messages_are_counted():
    assert said(NoticeKind.MESSAGE) == "bob wrote to you"
    assert said(NoticeKind.MESSAGE, count=3) == "3 messages from bob"
    assert said(NoticeKind.CHAT, count=2).startswith("2 new chat messages in Halves")
    assert said(NoticeKind.MESSAGE, to_all=True) == "Announcement from bob (arbiter)"
