"""What games and the application say on pages, in German: refusals, endings, offers, boards."""

import html
import re
from itertools import chain
from pathlib import Path

from tests.services.matches_by_form import start

ROOT = Path(__file__).parents[2]
GERMAN = {"accept-language": "de"}


def message(answer) -> str:
    found = re.search(r'<p class="lead"([^>]*)>(.*?)</p>', answer.text, re.DOTALL)
    assert found, answer.text
    assert "lang=" not in found[1]  # the page's own language
    return html.unescape(found[2])


def test_a_refused_move_is_explained_in_german(come):
    one, two = come(**GERMAN).sign_up("hanna-de"), come(**GERMAN).sign_up("heinz-de")
    board = start(one, two)
    assert "m13-k5: keine Linie verbindet m13 und k5." in one.page(
        one.act(board, "move", move="m13-k5").headers["location"]
    )
    assert message(two.act(board, "move", move="a1-a5")) == "Am Zug ist Hell, nicht Dunkel."
    said = one.get(
        f"/m/{board}/check", params={"move": "m13-m9"}, headers={"accept": "application/json"}
    )
    assert said.json()["said"] == "Dann ist heinz-de am Zug."
    one.act(board, "resign")
    shown = one.page(f"/m/{board}")
    assert "<desc>Dunkel (heinz-de) hat durch Aufgabe gewonnen. Hell: noch 14 zu setzen." in shown


def test_german_says_du_everywhere():
    parts = [ROOT / "services", ROOT / "domain"]
    kinds = ("*.de.txt", "*.po", "guide.toml")
    found = list(chain.from_iterable(part.rglob(kind) for part in parts for kind in kinds))
    assert len(found) > 20
    for path in found:
        text = " ".join(path.read_text("utf-8").split())
        assert not re.search(r"[a-zäöüß,] (?:Sie|Ihnen|Ihre[mnrs]?)\b", text), path


def test_what_the_rules_say_has_german_words_for_accounts_too(api):
    for name, code, said in (
        (
            "1",
            "bad-name",
            "'1' ist kein Name: ein Buchstabe, dann 1 bis 19 Buchstaben, Ziffern, - oder _",
        ),
        (
            "inactive",
            "bad-name",
            "'inactive' ist ein Name des Servers oder ein Wort seiner Befehle, oder sieht einem ähnlich; bitte einen anderen wählen",
        ),
    ):
        body = {"userid": name, "password": "long-enough"}
        answer = api.http.post("/api/accounts", json=body, headers=GERMAN)
        assert (answer.json()["code"], answer.json()["detail"]) == (code, said)


def test_an_unknown_player_and_an_unknown_match_are_explained_in_german(come):
    guest = come(**GERMAN)
    assert "es gibt keinen Spieler" in html.unescape(
        guest.get("/players/nobody-here").text
    ).replace("Es gibt", "es gibt")
    assert "Es gibt keine Partie 99999." in guest.get("/m/99999").text


def test_what_has_no_words_in_german_says_so(come):
    guest = come(**GERMAN)
    answer = guest.http.post("/login", content="x", headers={"content-type": "text/plain"})
    assert answer.status_code >= 400
    assert '<p class="lead" lang="en">' in answer.text
    answer = guest.get("/players", params={"page": "x"})
    assert answer.status_code == 400
    assert "Die Adresse dieser Seite hat einen Wert, der hier nicht passt" in answer.text
    assert "Eine solche Datei gibt es nicht" in guest.get("/static/1/nothing.js").text
    answer = guest.get("/games/pow2/try", params={"players": "7"})
    assert answer.status_code == 422
    assert "The Power of Two wird nicht zu 7 gespielt" in answer.text


def test_a_short_month_ends_no_sentence_because_it_has_a_full_stop_of_its_own(api, come):
    made = api.player().post("/api/challenges", {"game": "torere"}).json()
    shown = come(**GERMAN).page(f"/c/{made['id']}")
    found = re.search(r"Sie ist bis (.*?) offen\.", re.sub(r"<[^>]*>", "", shown))
    assert found, shown
    assert ".." not in found[0]
