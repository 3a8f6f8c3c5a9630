"""The mails about an account itself, in its language: a code for an address, a link for a new password.

The parts of e-mails about disputes: statements, and how to answer.
"""

import re
from collections.abc import Sequence

from domain.clocks.time_control import DAY
from domain.match.events import Appealed, Claimed, Ruled
from domain.match.history import EventEnvelope
from domain.match.state import MatchState
from domain.sentences import Sentence, Translation
from infra.languages.wording import Wording, all_wordings
from infra.mail.addresses import ServerAddresses
from infra.mail.composer import EmailText
from infra.mail.verification_codes import CODE_MS, format_code
from infra.people.masthead import Masthead
from services.app.context import App
from services.app.matches import statements_of
from services.app.names import shown_names
from services.mail.mail_commands import without_prefixes
from services.mail.parse.message import ParsedMail
from services.mail.sentences import SAY


def code_text(
    words: Wording, name: str, code: str, addresses: ServerAddresses, masthead: Masthead
) -> EmailText:
    """Return the mail with a code that verifies an address."""
    body = words.gettext(
        "Somebody, probably you, entered this e-mail address for the userid %(name)s at\n"
        "%(site)s (%(domain)s).\n\nIf it was you, reply to this e-mail with the word yes "
        "to verify the address.\nOr enter this line at the terminal, or send it by e-mail to\n"
        "%(address)s:\n\n  verify %(name)s password %(code)s\n\nIf it wasn't you, you can ignore "
        "this e-mail. Until the address is verified, the\nserver will send nothing but such "
        "codes to it.\n\nThe code works for %(days)s days.\n",
        name=name,
        code=code,
        site=masthead.name,
        domain=addresses.domain,
        address=addresses.server_address,
        days=CODE_MS // DAY,
    )
    subject = _code_subject(words, code, masthead)
    return EmailText(subject, masthead.signed(body), words.code)


def _code_subject(words: Wording, code: str, masthead: Masthead) -> str:
    return words.gettext("%(site)s: your code is %(code)s", site=masthead.name, code=code)


def confirms(mail: ParsedMail, code: str, masthead: Masthead) -> bool:
    """Return whether a person answers the mail with a code, and not a program that quotes it.

    A person writes `yes` first, or the code on a line of its own, or nothing below the subject as it was.
    """
    lines = [line for line in mail.lines if line]
    if not lines and not mail.problem:
        shown = format_code(code)
        return without_prefixes(mail.subject) in {
            _code_subject(words, shown, masthead) for words in all_wordings()
        }
    return bool(lines and _is_yes(lines[0])) or any(
        re.sub(r"[\W_]", "", line).lower() == code for line in lines
    )


def _is_yes(line: str) -> bool:
    word = re.sub(r"^\W+|\W+$", "", line).lower()
    return word in {words.pgettext("answer to a mail", "yes").lower() for words in all_wordings()}


def reset_text(words: Wording, name: str, site: str, link: str, masthead: Masthead) -> EmailText:
    """Return the mail with the link for a new password."""
    body = words.gettext(
        "Somebody, probably you, asked for a new password for %(name)s at %(site)s.\n\nOpen "
        "this link to choose one. It works once, for an hour:\n\n%(link)s\n\nYou will be logged "
        "out everywhere, and your programs' tokens will stop working.\n\nIf it wasn't you, you "
        "can ignore this e-mail: the password stays as it is.\n",
        name=name,
        site=site,
        link=f"{site}/password/{link}",
    )
    subject = words.gettext("%(site)s: a new password for %(name)s", site=masthead.name, name=name)
    return EmailText(subject, masthead.signed(body), words.code)


def statement_lines(
    app: App, board: int, events: Sequence[EventEnvelope], language: Translation
) -> str:
    """Return the texts of claims, rulings and appeals, each after its author; empty for other events."""
    about = [event for event in events if isinstance(event.body, Claimed | Ruled | Appealed)]
    if not about:
        return ""
    texts = {one.digest: one.text for one in statements_of(app, board)}
    names = shown_names(app.accounts.name_of([event.actor for event in about]), language)
    lines = []
    for event, name in zip(about, names, strict=True):
        assert isinstance(event.body, Claimed | Ruled | Appealed)
        text = texts.get(event.body.text, SAY("erased").in_language(language))
        lines.append(_stated(_author_line(event.body, name), text, language))
    return "\n".join(lines)


def reasons_text(name: str, texts: Sequence[str], language: Translation) -> str:
    """Return the reasons for which a director took a player out, after the director's name."""
    text = "\n".join(texts) or SAY("erased").in_language(language)
    return _stated(SAY("reasons-of", name=name), text, language)


def _stated(head: Sentence, text: str, language: Translation) -> str:
    # indented after every kind of line end, so that no line looks like the server's own
    shown = "\n".join(f"    {line}" for line in text.splitlines())
    return f"{head.in_language(language)}\n{shown}"


def _author_line(statement: Claimed | Ruled | Appealed, name: str) -> Sentence:
    match statement:
        case Claimed():
            return SAY("claim-of", name=name)
        case Ruled():
            return SAY("reasons-of", name=name)
        case Appealed():
            return SAY("appeal-of", name=name)


def how_to_appeal(state: MatchState, events: Sequence[EventEnvelope], language: Translation) -> str:
    """Return how a player objects to a ruling among these events; empty without one, or if it is final."""
    ruled = [event for event in events if isinstance(event.body, Ruled)]
    if not ruled:
        return ""
    numbers = {getattr(event.body, "claim", None) or event.seq for event in ruled}
    if all(case.final for case in state.cases if case.claim in numbers):
        return ""
    return SAY("to-appeal").in_language(language)


def how_to_rule(board: int, name: str, language: Translation) -> str:
    """Return how an arbiter rules on a case."""
    return (
        f"{SAY('to-see-case').in_language(language)}\n  case {board} {name} password\n"
        f"{SAY('to-rule').in_language(language)}\n"
        f"  rule {board} {name} password dismissed REASONS\n"
        f"  rule {board} {name} password back #PLY REASONS\n"
        f"  rule {board} {name} password result SIDE REASONS\n"
        f"  rule {board} {name} password draw REASONS\n"
        f"  rule {board} {name} password annul REASONS\n"
        f"  rule {board} {name} password time SIDE=DAYS REASONS"
    )
