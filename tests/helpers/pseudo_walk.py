"""Prints what the packages on the path say in a language, as JSON: see tests/services/test_third_language.py."""

import html
import json
import random
import re
import sys
from importlib import import_module
from pathlib import Path
from string import Formatter

import domain
from domain.drawing import draw_svg
from domain.fairness import DrawStream
from domain.game.protocol import GamePart, game_text
from domain.rules import all_games, rules_id
from domain.sentences import FormWords, Sentence, all_templates, form_context, text_in
from infra.languages.catalogues import languages
from infra.languages.wording import wording
from infra.mail.account_changes import account_change_emails
from infra.mail.addresses import ServerAddresses
from infra.mail.email import Attachment
from infra.mail.receipt_attachments import with_receipt_line
from infra.people.accounts.record import AccountChange, MailAddress, Profile
from infra.people.masthead import Masthead
from services.app.games import guide_of
from services.http.requests import wanted_language
from services.language.commands import FORMS
from services.mail.account_texts import code_text, reset_text

ROOT = Path(domain.__file__).parents[1]
WORDS = wording(sys.argv[1])
LACKING = sys.argv[2]
"""A game without words in it."""
GAMES = [game for game in all_games() if game.key != LACKING]
PLAYED = 400
"""Moves of a game after which its end is not waited for any longer."""
ARGUMENTS = (
    "…", 0, 1, 2, 5005, "D", "o", b"\x01\x03\x00\x02\x00", b"\x00", b"\x00\x01", "draw undo", "draw",
)  # fmt: skip
"""One of these is an argument of any field."""


def load():
    for layer in ("domain", "infra", "workers", "services"):
        for path in (ROOT / layer).rglob("*.py"):
            if " Sentences(" in path.read_text("utf-8"):
                import_module(".".join(path.relative_to(ROOT).with_suffix("").parts))


def values_of(key, template, name):
    """Return the arguments that a field takes, in English and in the language."""
    words = template.english + WORDS.pgettext(key, template.english)
    forms = {form for _, field, form, _ in Formatter().parse(words) if field == name and form}
    if not forms:
        return ["…"]
    return [one for one in ARGUMENTS if all(takes(key, template, form, one) for form in forms)]


def takes(key, template, form, value):
    try:
        shown = template._forms[form](value, FormWords(WORDS, form_context(key, form)))
    except (TypeError, ValueError, KeyError, IndexError, AttributeError):
        return False
    return isinstance(shown, str)


def sentences():
    """Yield each sentence, with each argument that its fields take."""
    for key, template in all_templates().items():
        if key.startswith(f"{LACKING}."):
            continue
        found = [values_of(key, template, name) or [None] for name in template.names]
        first = [one[0] for one in found]
        tried = [first, *([*first[:at], one, *first[at + 1 :]]
                          for at, values in enumerate(found) for one in values[1:])]  # fmt: skip
        for args in tried:
            shown = Sentence(key, tuple(args)).in_language(WORDS)
            yield [f"{key} {args}", shown]


def options():
    for game in GAMES:
        for field in game.options_form:
            for text in (field.title, field.hint, *(one.label for one in field.picks)):
                yield [f"{game.key} {text}", game_text(game.key, GamePart.OPTIONS, text, WORDS)]


def guides():
    for game in GAMES:
        guide = guide_of(game.key)
        texts = [guide.about, guide.goal, guide.turn, guide.origin]
        texts += [one.caption for one in guide.pictures] + [one.means for one in guide.notation]
        texts += [text for one in guide.sections for text in (one.title, *one.text, *one.items)]
        texts += [one.text for one in guide.legend]
        for text in texts:
            yield [f"{game.key} {text}", game_text(game.key, GamePart.GUIDE, text, WORDS)]


def start(rules, players):
    options = rules.read_options(())
    stream = DrawStream(bytes(32), rules_id(rules))
    return rules.start(options, players, rules.draw(options, players, stream))


def sides():
    """Yield the names of the sides, the prompts, and what the drawings say."""
    for game in GAMES:
        rules = game.latest
        at = start(rules, rules.players[-1])
        yield [f"{game.key} prompt", text_in(game.prompt, WORDS)]
        for seat in range(rules.players[-1]):
            yield [f"{game.key} {seat}", text_in(rules.sides[seat], WORDS)]
            yield [f"{game.key} {seat}", text_in(rules.colour_text(seat), WORDS)]
        drawn = draw_svg(rules, at, (), language=WORDS)
        said = re.findall(r"<(?:title|desc)[^>]*>([^<]*)<", drawn)
        yield [f"{game.key} drawn", " ".join(map(html.unescape, said))]


def endings():
    """Yield how games end that are played at random."""
    chance = random.Random(1)
    for game in GAMES:
        rules = game.latest
        for _ in range(3):
            at = start(rules, rules.players[0])
            for _ in range(PLAYED):
                if rules.outcome(at) is not None:
                    break
                moves, _ = rules.first_moves(at, 50)
                at = rules.play(at, rules.check(at, rules.read(chance.choice(moves))))
            if found := rules.outcome(at):
                yield [game.key, text_in(found.text, WORDS)]


def mails():
    addresses, site = ServerAddresses(bytes(32), "x."), Masthead(name="…", contact="…")
    profile = Profile(
        name="…", created=1, language=WORDS.code, addresses=(MailAddress("1@1", verified=True),)
    )
    texts = [
        code_text(WORDS, "…", "1", addresses, site), reset_text(WORDS, "…", "https://1", "1", site),
        *(one for change in AccountChange for one in account_change_emails(profile, change, "1", site)),
    ]  # fmt: skip
    for text in texts:
        yield ["subject", text.subject]
        yield ["body", text.body]
    yield ["receipt", with_receipt_line("", [Attachment("receipt.txt", "")], WORDS.code)]


load()
header = f"{WORDS.code}-GR,de;q=0.5"
side = {game.key: text_in(game.latest.sides[0], WORDS) for game in all_games()}
sys.stdout.write(
    json.dumps(
        {
            "languages": languages(),
            "chosen": [[wanted_language(header), header]],
            "usage": [[form.name, form.usage()] for form in FORMS if form.name == "help"],
            "lacking": [[key, side[key]] for key in (LACKING, "pow2")],
            **{
                one.__name__: list(one())
                for one in (sentences, options, guides, sides, endings, mails)
            },
        }
    )
)
