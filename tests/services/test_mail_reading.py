"""What a mail says is read from its bytes, whatever program wrote it; `trials/fuzz/mails.py` has more of them."""

from base64 import b64encode
from itertools import islice

import pytest

from services.mail.parse.message import Failure, read, vouches
from services.mail.parse.mime import FIELDS, LINE, NESTING, PARTS, SIZE, UnfitError
from tests.helpers.mails import in_parts, mail, part, report, several
from trials.fuzz import mails


def lines(data):
    """What was written, without blank lines around it."""
    return "\n".join(read(data).lines).strip().split("\n")


def of_type(kind, text="m13-j7", **headers):
    more = {name.replace("_", "-"): value for name, value in headers.items()}
    return mail(text, headers={"Content-Type": kind, **more})


def test_a_mail_has_an_id_a_subject_and_lines():
    seen = read(mail("m13-m5:l4\n", "pow2 move 1\r\n alice\r\n\t m13-j7"))
    assert (seen.id, seen.identified) == ("one@example.org", True)
    assert seen.subject == "pow2 move 1 alice m13-j7"
    assert seen.lines[0] == "m13-m5:l4"
    assert (seen.automatic, seen.failed, seen.problem) == (False, (), "")
    assert not any(read(b"Subject: help\r\n").lines)
    assert read(b"Subject: help\r\n").subject == "help"
    assert not any(read(b"").lines)


@pytest.mark.parametrize(("written", "meant"), [
    ("=?utf-8?q?m13=2Dj7?=", "m13-j7"),
    ("=?UTF-8?B?bTEzLWo3?=", "m13-j7"),
    ("=?utf-8?B?bTEzLWo3?= =?utf-8?Q?_now?=", "m13-j7 now"),
    ("=?iso-8859-1?Q?sch=F6n?=", "schön"),
    ("=?utf-8*en?Q?a_b?= c", "a b c"),
    ("grün", "grün"),
    ("=?klingon?Q?a?=", "=?klingon?Q?a?="),
    ("=?utf-8?B?A?=", "=?utf-8?B?A?="),
    ("a =?utf-8?Q?b", "a =?utf-8?Q?b"),
])  # fmt: skip
def test_encoded_words_in_a_subject_are_read(written, meant):
    assert read(mail("", written)).subject == meant


def test_the_same_mail_without_an_id_has_the_same_one_whichever_way_it_came():
    came = [
        read(b"Received: from %s\r\n" % way + mail("m13-j7", id_=None)) for way in (b"a", b"b, c")
    ]
    assert came[0].id == came[1].id
    assert not came[0].identified
    assert len({read(mail(text, id_=None)).id for text in ("m13-j7", "m13-j7 ", "")}) == 3
    for none in ("", "one@example.org", "<>", "<a b>", f"<{'a' * 251}>", "<a><b>"):
        assert not read(mail("", id_=none)).identified, none


@pytest.mark.parametrize(
    ("name", "values", "automatic"),
    [
        ("Auto-Submitted", ["auto-replied", "auto-generated; owner=me"], True),
        ("AUTO-SUBMITTED", ["Auto-Notified"], True),
        ("Precedence", ["bulk", " List ", "junk", "auto_reply"], True),
        ("List-Id", ["<chess.example.org>"], True),
        ("X-Autoreply", ["yes"], True),
        ("X-Autorespond", ["Away"], True),
        ("X-Auto-Response-Suppress", ["All", "DR, OOF, AutoReply"], True),
        ("Subject", ["Automatic reply: match 13", "AW: Automatische Antwort: match 13",
                     "Out of the office until Monday", "=?utf-8?q?R=C3=A9ponse_automatique?="], True),
        ("Auto-Submitted", ["no", "No; x=y"], False),
        ("Precedence", ["first-class"], False),
        ("X-Auto-Response-Suppress", ["None"], False),
        ("X-Autoreply", ["no"], False),
        ("Subject", ["say I was out of office"], False),
    ],
)  # fmt: skip
def test_mail_of_programs_and_lists_is_known_from_a_person_s(name, values, automatic):
    for value in values:
        assert read(mail("m13-j7", headers={name: value})).automatic is automatic, value


@pytest.mark.parametrize(
    ("results", "expected"),
    [
        ("mx.example.net; spf=pass smtp.mailfrom=fay@example.org", True),
        ("mx.example.net 1; spf=pass (sender is 192.0.2.1 (old)) smtp.mailfrom=example.org; dkim=none", True),
        ('MX.example.net; dkim=pass (2048-bit key) header.d=Example.org header.b="ab;c"; dmarc=none', True),
        ("mx.example.net; dkim=fail header.d=example.org; dmarc=pass (p=none) header.from=example.org", True),
        ("", False),
        ("mx.example.net; none", False),
        ("mx.example.net.evil.example; spf=pass smtp.mailfrom=example.org", False),
        ("mx.example.net; spf=fail smtp.mailfrom=example.org", False),
        ("mx.example.net; spf=passed smtp.mailfrom=example.org", False),
        ("mx.example.net; spf=pass smtp.mailfrom=anexample.org", False),
        ("mx.example.net; spf=pass smtp.helo=example.org", False),
        ("mx.example.net; dkim=fail; header.d=example.org", False),
        ('mx.example.net; dkim=fail reason="; spf=pass smtp.mailfrom=example.org" header.d=evil.example', False),
        ("mx.example.net; dkim=fail (; spf=pass smtp.mailfrom=example.org ;) header.d=evil.example", False),
        ('mx.example.net; spf=pass smtp.mailfrom="; dkim=pass header.d=example.org; "@evil.example', False),
        ('mx.example.net; dkim=fail reason="\\"; spf=pass smtp.mailfrom=example.org; dkim=fail "', False),
        ("mx.example.net; " + "((((" * 200 + "; spf=pass smtp.mailfrom=example.org", False),
    ],
)  # fmt: skip
def test_a_server_in_front_vouches_for_the_domain_of_a_sender(results, expected):
    seen = read(mail("help", headers={"Authentication-Results": results} if results else {}))
    for sender in ("fay@example.org", "fay@mail.EXAMPLE.org"):
        assert vouches(seen.results, "mx.example.net", sender) is expected
    assert not vouches(seen.results, "mx.example.net", "fay@elsewhere.example")


def test_a_report_tells_which_address_can_not_be_reached_for_good():
    failure = Failure("alice@example.org", "550 there is nobody of that name")
    assert read(report("alice@example.org")).failed == (failure,)
    for action, status in (("delayed", "4.4.1"), ("failed", "4.2.2"), ("delivered", "5.0.0")):
        assert read(report("alice@example.org", action, status)).failed == ()
    told = (
        "Reporting-MTA: dns; mx\n\nOriginal-Recipient: rfc822; alice@example.org\n"
        "Final-Recipient: rfc822; a@elsewhere.org\nAction: failed\nStatus: 5.1.1\n"
    )
    passed_on = [part(told, "message/delivery-status")]
    found = read(in_parts(passed_on, "multipart/report")).failed
    assert found == (Failure("alice@example.org", "5.1.1"),)
    assert read(in_parts(passed_on)).failed == (), "this mail is no report"


@pytest.mark.parametrize("below", [
    "\n-- \nAlice\nresign", "\nOn Mon, Jan 5, 2026 at 10:00 server <m1@example.org> wrote:\n> resign\n",
    "\nOn Mon, Jan 5, 2026 at 10:00 server\n<m1@example.org>\nwrote:\nresign",
    "\nAm 05.01.2026 um 10:00 schrieb server:\n> resign",
    "\nLe lun. 5 janv. 2026 à 10:00, server a écrit :\n> resign",
    "\n2026-01-05 10:00 GMT+01:00 server <m1@example.org>:\n\n> resign",
    "\n-----Original Message-----\nFrom: server\nresign", "\n> resign\n>> resign",
])  # fmt: skip
def test_what_is_quoted_or_signed_is_nobody_s_word(below):
    assert "resign" not in lines(mail(f"m13-j7{below}"))
    assert lines(mail(f"m13-j7{below}"))[0] == "m13-j7"
    assert lines(mail(f"m13-j7\n{below}"))[0] == "m13-j7"


FLOWED = "text/plain; charset=utf-8; format=flowed"
PARTED = "multipart/mixed; boundary=cut"
HTML = (
    "<html><head><title>resign</title><style>p {}</style></head><body>"
    "<div>m13-j7&nbsp;</div><!-- resign --><br><p>a &lt; b<script>resign</script>"
    "<div class=gmail_quote>On Monday server wrote:<br><blockquote>resign"
    "<blockquote>resign</blockquote>resign</blockquote></div></body></html>"
)
ATTACHED = part("resign", Content_Disposition="attachment; filename=a.txt")
ALTERNATIVE = several(
    [part("<p>resign</p>", "text/html"), part("m13-j7")], "multipart/alternative", "in"
)


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (mail("On Monday server wrote:\n> match 1, it is your turn\n> and so on\n\nm13-j7\n"), "m13-j7"),
        (mail("say listen:\nm13-j7"), "say listen:\nm13-j7"),
        # charsets
        *((of_type(f"text/plain; charset={charset}", "say schön".encode(codec)), "say schön")
          for charset, codec in (("UTF-8", "utf-8"), ("iso-8859-1", "latin-1"), ("windows-1252", "cp1252"),
                                 ("iso-8859-15", "iso8859-15"), ("us-ascii", "utf-8"))),
        (of_type('text/plain; charset="ISO-8859-1"', b"say \x93hello\x94"), "say “hello”"),
        (mail(b"say \xff\xfe"), "say \ufffd\ufffd"),
        # transfer encodings
        *((of_type("text/plain", data, Content_Transfer_Encoding=name), "m13-j7")
          for name, data in (("7bit", b"m13-j7"), ("8BIT", b"m13-j7"), ("quoted-printable", b"m13=2D=\r\nj7"),
                             ("Base64", b64encode(b"m13-j7")), ("base64", b64encode(b"m13-j7").rstrip(b"=")))),
        (mail(b64encode(b"say \x00\x1b[2J"), headers={"Content-Transfer-Encoding": "base64"}), "say \ufffd\ufffd[2J"),
        # lines
        (of_type(FLOWED, "say this is \nlong\n  m13-j7"), "say this is long\nm13-j7"),
        (of_type("text/plain; format=flowed; delsp=yes", "m13-m5: \nl4\n-- \nme"), "m13-m5:l4"),
        (mail("\ufeff\u00a0m13-j7\u200b\u2009\n"), "m13-j7"),
        # parts
        (in_parts([ALTERNATIVE, part("resign")]), "m13-j7"),
        (in_parts([ATTACHED, part("m13-j7")]), "m13-j7"),
        (in_parts([ATTACHED]), ""),
        (in_parts([part(mail("m13-j7"), "message/rfc822")]), ""),
        (of_type("text/html", HTML), "m13-j7\na < b"),
        (of_type(PARTED, b"resign\r\n--cut\r\n" + part("m13-j7") + b"\r\n--cut--\r\nresign\r\n"), "m13-j7"),
        (of_type(PARTED, b"--cut\r\n" + part("m13-j7")), "m13-j7"),
    ],
)  # fmt: skip
def test_a_text_is_read_in_every_form_it_has_on_its_way(data, said):
    assert "\n".join(line for line in lines(data) if line) == said


def test_a_text_that_can_not_be_read_is_told():
    for charset in ("klingon", "utf-7", "idna", "zlib", "rot13", "unicode_escape"):
        seen = read(of_type(f"text/plain; charset={charset}"))
        assert seen.lines == ()
        assert seen.problem == f"its charset {charset!r} is not known here; send it in UTF-8"
    assert read(of_type('text/plain; charset="\u202e\u00fc"')).problem.isascii()
    for encoding, said in (("x-uuencode", "encoding"), ("base64", "base64")):
        seen = read(of_type("text/plain", b"A", Content_Transfer_Encoding=encoding))
        assert seen.lines == ()
        assert said in seen.problem


# limits


def of_size(size):
    bare = mail("")
    rows = b"\r\n" * ((size - len(bare)) // 2)
    return bare + rows + b"a" * (size - len(bare) - len(rows))


def nested(depth):
    inner = part("m13-j7")
    for number in range(depth - 1):
        inner = several([inner], boundary=f"b{number}")
    return inner


def test_a_mail_at_every_limit_is_read_and_one_beyond_is_refused():
    for most, make in (
        (SIZE, of_size),
        (LINE, lambda size: mail("a" * size)),
        (FIELDS - 5, lambda count: mail("", headers={f"X-{n}": "a" for n in range(count)})),
        (PARTS - 1, lambda count: in_parts([part("a")] * count)),
        (NESTING, nested),
    ):
        read(make(most))
        with pytest.raises(UnfitError):
            read(make(most + 1))


BARE = (b"a\nb", b"a\rb", b"a\0b", b"\n", b"a\r\r\n")


@pytest.mark.parametrize(
    ("data", "said"),
    [
        *((mail(bad), ".") for bad in BARE),
        *((b"X-Field: " + bad + b"\r\n" + mail("m13-j7"), ".") for bad in BARE),
        *((mail("", f"=?utf-8?Q?m13-j7{hidden}?="), "line break")
          for hidden in ("=0D=0ABcc:_eve@example.org", "=0A", "=00", "=E2=80=A8", "=1B[2J")),
        *((head + mail("m13-j7"), "no field")
          for head in (b"no field\r\n", b": a\r\n", b" a\r\n", b"a b: c\r\n", b"\xc3\xa4: a\r\n", b"A" * 101 + b":\r\n")),
        *((of_type(f"multipart/mixed; boundary={boundary}", ""), "boundary") for boundary in ("", '""', "a" * 71)),
        (mail("\xe4" * SIZE), "."),
    ],
)  # fmt: skip
def test_what_is_no_mail_is_refused_with_a_sentence_that_a_mail_server_can_tell(data, said):
    with pytest.raises(UnfitError, match=said) as refused:
        read(data)
    assert str(refused.value).isascii()
    assert str(refused.value).isprintable()


@pytest.mark.slow
def test_mails_of_every_kind_are_read_or_refused_and_nothing_is_told_of_them():
    made = {}
    for kind, data in islice(mails.mails(seed=7), 600):
        result, _ = mails.check(data)
        made.setdefault(kind, set()).add(result.partition(",")[0])
    assert set(made) == {make.__name__ for make in mails.KINDS}
    assert all(results == {"read", "refused"} for results in made.values())


@pytest.mark.parametrize(("begin", "again"), mails.SLOW)
def test_what_is_made_to_be_slow_takes_time_in_line_with_its_size(begin, again):
    small, large = (
        min(mails.check(mails.repeated(begin, again, size))[1] for _ in range(3))
        for size in (8_000, 64_000)
    )
    assert large < 0.002 + 30 * small
