"""Offers and answers to them, in words, in each language."""

import pytest

from domain.match.offers import OFFER_KINDS
from infra.languages.wording import wording
from services.words.agreements import answered, offer_button, offered, own_offer

SAID = {
    "draw": (
        ("alice offers a draw", "alice accepted the draw", "alice declined the draw"),
        ("alice bietet Remis an", "alice hat Remis angenommen", "alice hat Remis abgelehnt"),
    ),
    "undo": (
        (
            "alice asks for a takeback",
            "alice accepted the takeback",
            "alice declined the takeback",
        ),
        (
            "alice möchte den letzten Zug zurücknehmen",
            "alice hat der Zugrücknahme zugestimmt",
            "alice hat die Zugrücknahme abgelehnt",
        ),
    ),
    "abort": (
        (
            "alice offers to call the match off",
            "alice agreed to call the match off",
            "alice does not want to call the match off",
        ),
        (
            "alice schlägt vor, die Partie abzubrechen",
            "alice hat dem Abbruch der Partie zugestimmt",
            "alice möchte die Partie nicht abbrechen",
        ),
    ),
    "transfer": (
        (
            "alice wants to move the match to another server",
            "alice agreed to move the match to another server",
            "alice does not want to move the match to another server",
        ),
        (
            "alice möchte die Partie auf einem anderen Server fortsetzen",
            "alice ist einverstanden, die Partie auf einem anderen Server fortzusetzen",
            "alice möchte die Partie nicht auf einem anderen Server fortsetzen",
        ),
    ),
}


@pytest.mark.parametrize("kind", SAID)
def test_an_offer_and_its_answers_are_said_in_each_language(kind: str) -> None:
    for language, said in zip(("en", "de"), SAID[kind], strict=True):
        words = wording(language)
        assert (
            offered(kind, "alice", words),
            answered(kind, "alice", words, accepted=True),
            answered(kind, "alice", words, accepted=False),
        ) == said


@pytest.mark.parametrize("kind", [*OFFER_KINDS, "count", "deal"])
def test_each_kind_has_words_of_its_own_in_each_language(kind: str) -> None:
    for words in map(wording, ("en", "de")):
        for said in (
            offered(kind, "alice", words),
            own_offer(kind, words),
            offer_button(kind, words),
        ):
            assert kind not in said.split(": ")[1:]
        assert len({own_offer(kind, one) for one in map(wording, ("en", "de"))}) == 2


def test_an_offer_of_an_unknown_game_is_named_as_it_is_written() -> None:
    words = wording("en")
    assert offered("swap", "alice", words) == "alice proposes: swap"
    assert answered("swap", "alice", words, accepted=True) == "alice accepted the proposal"
