"""The language of the reader: at the terminal that of the account, over HTTP the one that is asked for."""

import pytest

from services.http.requests import wanted_language
from tests.helpers.api import Api, code_of

GERMAN_ANSWERS = (
    ("messages alice mad-hatter", "niemand hat dir geschrieben"),
    ("message alice mad-hatter bob hallo", "bob findet sie in `messages`"),
    ("block alice mad-hatter", "du blockierst niemanden"),
    ("vacation alice mad-hatter", "du hast keinen Urlaub"),
    ("watching alice mad-hatter", "du beobachtest keine Partie und folgst niemandem"),
    ("follow alice mad-hatter bob", "`watching` zeigt, was dieses Konto spielt; es erfährt davon nichts"),
    ("watch 1 alice mad-hatter", "Partie 1 steht in `watching`"),
    ("case 1 alice mad-hatter", "Partie 1 hat keinen Fall"),
    ("pow2 chat 1 alice mad-hatter guten Tag", "in Partie 1 gesagt"),
    ("pow2 queue 1 alice mad-hatter", "Partie 1: du hast keine Vorauszüge"),
    ("set alice mad-hatter notify daily", "ab jetzt gilt: alice bekommt eine Mail am Tag"),
    ("pow2 move 1 alice mad-hatter m13-m5:l4", "Partie 1, #1: Hell (alice) hat m13-m5:l4 gezogen"),
    ("pow2 move 1 alice mad-hatter propose draw", "Partie 1, #1: Hell (alice) bietet Remis an"),
    ("pow2 resign 1 alice mad-hatter", "die Partie ist zu Ende: Dunkel (bob) hat durch Aufgabe gewonnen"),
    ("pow2 challenge alice bob --password=mad-hatter", "Hell (alice) fordert Dunkel (bob) zu"),
    ("delete alice mad-hatter", "das Konto und alle persönlichen Daten sind gelöscht"),
)  # fmt: skip


def test_the_terminal_answers_in_the_language_of_the_account(terminal):
    terminal.challenge()
    assert terminal.do("set alice mad-hatter language de").sentence == (
        "alice liest ab jetzt alles auf Deutsch, auch Mails"
    )
    alice = terminal.app.accounts.id_of("alice")
    for line, said in (
        ("mesages alice mad-hatter", "es gibt keinen Befehl 'mesages'; ist `messages` gemeint?"),
        ("block", "die Form ist `block userid password [userid]`; `help` zeigt die Befehle"),
        ("", "die Zeile ist leer; `help` zeigt die Befehle"),
        ("help move", "ziehen; oder statt des Zugs"),
    ):
        assert said in terminal.language.do(line, reader=alice).text
    assert "there is no command" in terminal.do("mesages alice mad-hatter").sentence
    for line, said in GERMAN_ANSWERS:
        answer = terminal.do(line)
        assert (answer.code, said in answer.text) == ("", True), (line, answer.text)


@pytest.mark.parametrize(("header", "language"), [
    ("", "en"),
    ("de", "de"),
    ("de-AT,de;q=0.9,en;q=0.8", "de"),
    ("fr, de;q=0.5", "de"),
    ("en, de", "en"),
    ("de;q=0.3, en;q=0.7", "en"),
    ("de;q=0", "en"),
    ("en;q=0", "en"),
    ("*", "en"),
    ("en;q=0.1, *;q=0.5", "de"),
    ("DE ; q=1", "de"),
    ("de;q=9, ;;;, \x00", "en"),
    (",".join(["fr"] * 20 + ["de"]), "en"),
])  # fmt: skip
def test_the_language_that_is_wanted_most(header: str, language: str) -> None:
    assert wanted_language(header) == language


def test_the_api_answers_a_refused_move_in_the_language_asked_for(api: Api) -> None:
    one, other = api.players()
    board = api.match(one, other)
    for wish, language, sentence in (
        ({}, "en", "m13-a13: a13 is occupied by a dark piece"),
        ({"Accept-Language": "de-CH, en;q=0.5"}, "de", "m13-a13: auf a13 steht ein dunkler Stein"),
    ):
        refused = one.move(board, "m13-a13", headers={"Idempotency-Key": "k", **wish})
        assert (refused.status_code, code_of(refused)) == (422, "illegal-move")
        assert refused.json()["detail"] == sentence
        assert refused.headers["content-language"] == language
        assert "Accept-Language" in refused.headers["vary"]
