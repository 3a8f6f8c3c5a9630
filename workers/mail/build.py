"""From texts to letters: whom they go to, under which id, from which address."""

from collections.abc import Iterator, Sequence

from domain.match.events import AccountId
from domain.rules import Seat
from infra.accounts import Profile
from infra.letters import Letter as Said
from infra.mail.addresses import Addresses
from infra.mail.composer import Composer, Told
from infra.mail.letter import Letter, Purpose, fit_subject, references
from infra.mail.progress import Item, Progress
from infra.mail.written import Note

_DAY = 24 * 3_600_000


class EmailBuilder:
    """Makes letters. Those of the same happening have the same ids, whoever makes them."""

    def __init__(self, composer: Composer, addresses: Addresses, progress: Progress) -> None:
        self._composer = composer
        self._addresses = addresses
        self._progress = progress

    def told(self, told: Told, to: Sequence[str]) -> list[Letter]:
        """Return the letters that tell a player of a match."""
        text = self._composer.told(told)
        place = (told.board, told.seq, told.seat)
        id_ = self._id("m{}.{}.s{}".format(*place), *place, told.account.hex())
        headers = self._of_match(told.board, told.seat, told.account, id_)
        return list(self._notices(id_, told.account, to, text.subject, text.body, headers))

    def chat(
        self, account: AccountId, board: int, seat: Seat, said: Sequence[Said], to: Sequence[str]
    ) -> list[Letter]:
        """Return the letters that tell a player what others said in a match."""
        text = self._composer.chat(account, board, said)
        place = (board, said[-1].at, seat)
        id_ = self._id("c{}.{}.s{}".format(*place), "chat", *place, account.hex())
        headers = self._of_match(board, seat, account, id_)
        return list(self._notices(id_, account, to, text.subject, text.body, headers))

    def _of_match(
        self, board: int, seat: Seat, account: AccountId, id_: str
    ) -> list[tuple[str, str]]:
        """Return the headers of a mail about a match: where answers go, and what it belongs to."""
        first = self._progress.first(board, seat, id_)
        return [
            ("Reply-To", self._addresses.of(board, seat, account)),
            *(_answering(first) if first != id_ else ()),
        ]

    def digest(
        self, account: AccountId, items: Sequence[Item], due: int, to: Sequence[str]
    ) -> list[Letter]:
        """Return the letters of a digest that became due at `due`, ms."""
        text = self._composer.digest(account, items)
        id_ = self._id(f"d{due // _DAY}", "digest", due, account.hex())
        return list(self._notices(id_, account, to, text.subject, text.body, []))

    def message(self, account: AccountId, note: Note, to: Sequence[str]) -> list[Letter]:
        """Return the letters that tell a player what another wrote."""
        text = self._composer.message(account, note)
        id_ = self._id("w", note.command.hex(), account.hex())
        return list(self._notices(id_, account, to, text.subject, text.body, []))

    def code(self, account: AccountId, address: str, code: str, now: int) -> Letter:
        """Return the letter with the code for an address; each time it is asked for a new one."""
        text = self._composer.code(account, code)
        reply_to = self._addresses.code(account, code)
        return Letter(
            id=self._id("v", "code", now, address, account.hex()),
            to=address,
            subject=fit_subject(text.subject),
            body=text.body,
            headers=(("Reply-To", reply_to), ("Auto-Submitted", "auto-generated")),
            purpose=Purpose.CODE,
            account=account,
        )

    def _notices(
        self,
        id_: str,
        account: AccountId,
        to: Sequence[str],
        subject: str,
        body: str,
        headers: Sequence[tuple[str, str]],
    ) -> Iterator[Letter]:
        leaving = f"<mailto:{self._addresses.signoff(account)}>"
        for address in to:
            yield Letter(
                id=id_,
                to=address,
                subject=fit_subject(subject),
                body=body,
                headers=(
                    *headers,
                    ("Auto-Submitted", "auto-generated"),
                    ("List-Unsubscribe", leaving),
                ),
                purpose=Purpose.NOTICE,
                account=account,
            )

    def _id(self, shown: str, *parts: object) -> str:
        return f"{shown}.{self._addresses.mark(*parts)}@{self._addresses.domain}"


def _answering(first: str) -> tuple[tuple[str, str], ...]:
    """Return the headers by which mail programs show a match's mails together."""
    return ("In-Reply-To", references([first])), ("References", references([first]))


def wants_mail(profile: Profile) -> bool:
    """Whether a player wants to be told anything at all by mail."""
    return not profile.signed_off and profile.notify != "none"


def addresses_of(profile: Profile | None) -> list[str]:
    """Return where a player's mail goes now; nowhere for who wants none, or is no more."""
    if profile is None or not wants_mail(profile):
        return []
    return [one.address for one in profile.addresses if one.usable]
