"""What a mail says is read from its bytes, whatever program wrote it."""

from base64 import b64encode

import pytest

from services.mail.parse.message import Failure, read, vouches
from services.mail.parse.mime import FIELDS, LINE, NESTING, PARTS, SIZE, UnfitError
from tests.helpers.mails import in_parts, mail, part, report, several


def lines(data):
    """What was written, without blank lines around it."""
    return "\n".join(read(data).lines).strip().split("\n")


# plain mails


def test_a_mail_has_an_id_a_subject_and_lines():
    seen = read(mail("m13-m5:l4\n", "my move"))
    assert (seen.id, seen.identified, seen.subject) == ("one@example.org", True, "my move")
    assert seen.lines[0] == "m13-m5:l4"
    assert not seen.automatic
    assert seen.failed == ()
    assert seen.problem == ""


def test_a_mail_without_a_text_has_no_lines():
    assert not any(read(b"Subject: help\r\n").lines)
    assert read(b"Subject: help\r\n").subject == "help"
    assert not any(read(b"").lines)


def test_a_subject_over_several_lines_is_one():
    assert (
        read(mail("", "pow2 move 1\r\n alice\r\n\t m13-j7")).subject == "pow2 move 1 alice m13-j7"
    )


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("=?utf-8?q?m13=2Dj7?=", "m13-j7"),
        ("=?UTF-8?B?bTEzLWo3?=", "m13-j7"),
        ("=?utf-8?B?bTEzLWo3?= =?utf-8?Q?_now?=", "m13-j7 now"),
        ("=?iso-8859-1?Q?sch=F6n?=", "schön"),
        ("=?utf-8*en?Q?a_b?= c", "a b c"),
        ("grün", "grün"),
        ("=?klingon?Q?a?=", "=?klingon?Q?a?="),
        ("=?utf-8?B?A?=", "=?utf-8?B?A?="),
        ("a =?utf-8?Q?b", "a =?utf-8?Q?b"),
    ],
)
def test_encoded_words_in_a_subject_are_read(written, meant):
    assert read(mail("", written)).subject == meant


@pytest.mark.parametrize(
    "hidden", ["=0D=0ABcc:_eve@example.org", "=0A", "=00", "=E2=80=A8", "=1B[2J"]
)
def test_a_line_break_hidden_in_a_subject_is_refused(hidden):
    with pytest.raises(UnfitError, match="line break"):
        read(mail("", f"=?utf-8?Q?m13-j7{hidden}?="))


# ids


def test_the_same_mail_without_an_id_has_the_same_one_whichever_way_it_came():
    came = [
        read(b"Received: from %s\r\n" % way + mail("m13-j7", id_=None)) for way in (b"a", b"b, c")
    ]
    assert came[0].id == came[1].id
    assert not came[0].identified


def test_mails_without_ids_that_say_other_things_have_other_ids():
    texts = ("m13-j7", "m13-j7 ", "")
    assert len({read(mail(text, id_=None)).id for text in texts}) == len(texts)


@pytest.mark.parametrize("id_", ["", "one@example.org", "<>", "<a b>", f"<{'a' * 251}>", "<a><b>"])
def test_an_id_that_is_none_counts_as_missing(id_):
    assert not read(mail("", id_=id_)).identified


# who sent it


@pytest.mark.parametrize(
    "field",
    [
        {"Auto-Submitted": "auto-replied"},
        {"Auto-Submitted": "auto-generated; owner=me"},
        {"AUTO-SUBMITTED": "Auto-Notified"},
        {"Precedence": "bulk"},
        {"Precedence": " List "},
        {"Precedence": "junk"},
        {"Precedence": "auto_reply"},
        {"List-Id": "<chess.example.org>"},
        {"X-Autoreply": "yes"},
        {"X-Autorespond": "Away"},
        {"X-Auto-Response-Suppress": "All"},
        {"X-Auto-Response-Suppress": "DR, OOF, AutoReply"},
        {"Subject": "Automatic reply: match 13"},
        {"Subject": "AW: Automatische Antwort: match 13"},
        {"Subject": "Out of the office until Monday"},
        {"Subject": "=?utf-8?q?R=C3=A9ponse_automatique?="},
    ],
)
def test_mail_of_programs_and_lists_is_known(field):
    assert read(mail("m13-j7", headers=field)).automatic


@pytest.mark.parametrize(
    "field",
    [
        {"Auto-Submitted": "no"},
        {"Auto-Submitted": "No; x=y"},
        {"Precedence": "first-class"},
        {"X-Auto-Response-Suppress": "None"},
        {"X-Autoreply": "no"},
        {"Subject": "say I was out of office"},
    ],
)
def test_a_person_s_mail_is_not_taken_for_a_program_s(field):
    assert not read(mail("m13-j7", headers=field)).automatic


GOOD_RESULTS = [
    "mx.example.net; spf=pass smtp.mailfrom=fay@example.org",
    "mx.example.net 1; spf=pass (sender is 192.0.2.1 (old)) smtp.mailfrom=example.org; dkim=none",
    'MX.example.net; dkim=pass (2048-bit key) header.d=Example.org header.b="ab;c"; dmarc=none',
    "mx.example.net; dkim=fail header.d=example.org; dmarc=pass (p=none) header.from=example.org",
]

BAD_RESULTS = [
    "",
    "mx.example.net; none",
    "mx.example.net.evil.example; spf=pass smtp.mailfrom=example.org",
    "mx.example.net; spf=fail smtp.mailfrom=example.org",
    "mx.example.net; spf=passed smtp.mailfrom=example.org",
    "mx.example.net; spf=pass smtp.mailfrom=anexample.org",
    "mx.example.net; spf=pass smtp.helo=example.org",
    "mx.example.net; dkim=fail; header.d=example.org",
    'mx.example.net; dkim=fail reason="; spf=pass smtp.mailfrom=example.org" header.d=evil.example',
    "mx.example.net; dkim=fail (; spf=pass smtp.mailfrom=example.org ;) header.d=evil.example",
    'mx.example.net; spf=pass smtp.mailfrom="; dkim=pass header.d=example.org; "@evil.example',
    'mx.example.net; dkim=fail reason="\\"; spf=pass smtp.mailfrom=example.org; dkim=fail "',
    "mx.example.net; " + "((((" * 200 + "; spf=pass smtp.mailfrom=example.org",
]


@pytest.mark.parametrize(
    ("results", "expected"),
    [*((one, True) for one in GOOD_RESULTS), *((one, False) for one in BAD_RESULTS)],
)
def test_a_server_in_front_vouches_for_the_domain_of_a_sender(results, expected):
    seen = read(mail("help", headers={"Authentication-Results": results} if results else {}))
    for sender in ("fay@example.org", "fay@mail.EXAMPLE.org"):
        assert vouches(seen.results, "mx.example.net", sender) is expected
    assert not vouches(seen.results, "mx.example.net", "fay@elsewhere.example")


def test_a_report_tells_which_address_can_not_be_reached():
    (failure,) = read(report("alice@example.org")).failed
    assert failure == Failure("alice@example.org", "550 there is nobody of that name")


@pytest.mark.parametrize(
    ("action", "status"), [("delayed", "4.4.1"), ("failed", "4.2.2"), ("delivered", "5.0.0")]
)
def test_a_report_of_what_may_still_work_out_tells_nothing(action, status):
    assert read(report("alice@example.org", action, status)).failed == ()


def test_the_address_that_was_written_to_counts_where_mail_was_passed_on():
    told = (
        "Reporting-MTA: dns; mx\n\nOriginal-Recipient: rfc822; alice@example.org\n"
        "Final-Recipient: rfc822; a@elsewhere.org\nAction: failed\nStatus: 5.1.1\n"
    )
    data = in_parts([part(told, "message/delivery-status")], "multipart/report")
    assert read(data).failed == (Failure("alice@example.org", "5.1.1"),)


def test_a_report_in_a_mail_that_is_none_tells_nothing():
    told = "Final-Recipient: rfc822; alice@example.org\nAction: failed\nStatus: 5.1.1\n"
    assert read(in_parts([part(told, "message/delivery-status")])).failed == ()


# quotes and signatures


@pytest.mark.parametrize(
    "below",
    [
        "\n-- \nAlice\nresign",
        "\n--\nresign",
        "\nOn Mon, Jan 5, 2026 at 10:00 server <m1@example.org> wrote:\n> resign\n",
        "\nOn Mon, Jan 5, 2026 at 10:00 server\n<m1@example.org>\nwrote:\nresign",
        "\nAm 05.01.2026 um 10:00 schrieb server:\n> resign",
        "\nLe lun. 5 janv. 2026 à 10:00, server a écrit :\n> resign",
        "\n2026-01-05 10:00 GMT+01:00 server <m1@example.org>:\n\n> resign",
        "\n-----Original Message-----\nFrom: server\nresign",
        "\n-----Ursprüngliche Nachricht-----\nresign",
        "\n________________________________\nFrom: server\nresign",
        "\n> resign\n>> resign",
    ],
)
def test_what_is_quoted_or_signed_is_nobody_s_word(below):
    assert "resign" not in lines(mail(f"m13-j7{below}"))
    assert lines(mail(f"m13-j7{below}"))[0] == "m13-j7"
    assert lines(mail(f"m13-j7\n{below}"))[0] == "m13-j7"


def test_an_answer_below_a_quote_is_read():
    text = "On Monday server wrote:\n> match 1, it is your turn\n> and so on\n\nm13-j7\n"
    assert lines(mail(text)) == ["m13-j7"]


def test_a_line_that_ends_with_a_colon_is_the_sender_s_where_no_quote_follows():
    assert lines(mail("say listen:\nm13-j7")) == ["say listen:", "m13-j7"]


# forms of text


@pytest.mark.parametrize(
    ("charset", "data"),
    [
        ("utf-8", "say schön".encode()),
        ("UTF-8", "say schön".encode()),
        ("iso-8859-1", "say schön".encode("latin-1")),
        ("windows-1252", "say schön".encode("cp1252")),
        ("iso-8859-15", "say schön".encode("iso8859-15")),
        ("us-ascii", "say schön".encode()),
    ],
)
def test_charsets_that_people_write_in_are_read(charset, data):
    assert lines(mail(data, headers={"Content-Type": f"text/plain; charset={charset}"})) == [
        "say schön"
    ]


def test_what_calls_itself_latin_and_is_windows_is_read_as_windows():
    data = mail(b"say \x93hello\x94", headers={"Content-Type": 'text/plain; charset="ISO-8859-1"'})
    assert lines(data) == ["say “hello”"]


@pytest.mark.parametrize("charset", ["klingon", "utf-7", "idna", "zlib", "rot13", "unicode_escape"])
def test_an_unknown_charset_is_told(charset):
    seen = read(mail("m13-j7", headers={"Content-Type": f"text/plain; charset={charset}"}))
    assert seen.lines == ()
    assert seen.problem == f"its charset {charset!r} is not known here; send it in UTF-8"


def test_a_charset_with_odd_signs_is_not_repeated():
    seen = read(mail("m13-j7", headers={"Content-Type": 'text/plain; charset="\u202e\u00fc"'}))
    assert seen.problem.isascii()


def test_bytes_that_are_no_text_are_shown_as_such():
    assert lines(mail(b"say \xff\xfe")) == ["say \ufffd\ufffd"]


@pytest.mark.parametrize(
    ("encoding", "data"),
    [
        ("7bit", b"m13-m5:l4"),
        ("8BIT", b"m13-m5:l4"),
        ("quoted-printable", b"m13=2Dm5:=\r\nl4"),
        ("Base64", b64encode(b"m13-m5:l4")),
        ("base64", b64encode(b"m13-m5:l4").rstrip(b"=")),
    ],
)
def test_transfer_encodings_are_read(encoding, data):
    seen = mail(data, headers={"Content-Transfer-Encoding": encoding})
    assert lines(seen) == ["m13-m5:l4"]


@pytest.mark.parametrize(("encoding", "data"), [("x-uuencode", b"a"), ("base64", b"A")])
def test_a_transfer_encoding_that_is_unknown_or_broken_is_told(encoding, data):
    seen = read(mail(data, headers={"Content-Transfer-Encoding": encoding}))
    assert seen.lines == ()
    assert "encoding" in seen.problem or "base64" in seen.problem


def test_lines_that_the_sender_s_program_has_folded_are_whole_again():
    flowed = {"Content-Type": "text/plain; charset=utf-8; format=flowed"}
    assert lines(mail("say this is \nlong\n  m13-j7", headers=flowed)) == [
        "say this is long",
        "m13-j7",
    ]
    deleted = {"Content-Type": "text/plain; format=flowed; delsp=yes"}
    assert lines(mail("m13-m5: \nl4\n-- \nme", headers=deleted)) == ["m13-m5:l4"]


def test_blanks_and_signs_that_are_not_seen_do_not_count():
    assert lines(mail("\ufeff\u00a0m13-j7\u200b\u2009\n")) == ["m13-j7"]


def test_control_characters_hidden_in_an_encoding_are_shown_as_such():
    data = mail(b64encode(b"say \x00\x1b[2J"), headers={"Content-Transfer-Encoding": "base64"})
    assert lines(data) == ["say \ufffd\ufffd[2J"]


# parts


def test_the_plain_part_is_read_wherever_it_is():
    both = several(
        [part("<p>resign</p>", "text/html"), part("m13-j7")], "multipart/alternative", "in"
    )
    assert lines(in_parts([both, part("resign")])) == ["m13-j7"]


def test_a_file_that_is_attached_is_not_read():
    attached = part("resign", Content_Disposition="attachment; filename=a.txt")
    assert lines(in_parts([attached, part("m13-j7")])) == ["m13-j7"]
    assert not any(read(in_parts([attached])).lines)


def test_html_is_read_where_there_is_nothing_else():
    html = (
        "<html><head><title>resign</title><style>p {}</style></head><body>"
        "<div>m13-m5:l4&nbsp;</div><!-- resign --><br><p>a &lt; b<script>resign</script>"
        "<div class=gmail_quote>On Monday server wrote:<br><blockquote>resign"
        "<blockquote>resign</blockquote>resign</blockquote></div></body></html>"
    )
    seen = [line for line in lines(mail(html, headers={"Content-Type": "text/html"})) if line]
    assert seen == ["m13-m5:l4", "a < b"]


def test_what_stands_around_the_parts_is_not_read():
    inner = b"resign\r\n--cut\r\n" + part("m13-j7") + b"\r\n--cut--\r\nresign\r\n"
    data = mail(inner, headers={"Content-Type": "multipart/mixed; boundary=cut"})
    assert lines(data) == ["m13-j7"]


def test_parts_without_an_end_are_read():
    data = mail(
        b"--cut\r\n" + part("m13-j7"), headers={"Content-Type": "multipart/mixed; boundary=cut"}
    )
    assert lines(data) == ["m13-j7"]


def test_a_mail_within_a_mail_is_not_read():
    assert not any(read(in_parts([part(mail("m13-j7"), "message/rfc822")])).lines)


# limits


def test_a_mail_at_every_limit_is_read_and_one_beyond_is_refused():
    for most, make in LIMITS:
        read(make(most))
        with pytest.raises(UnfitError):
            read(make(most + 1))


def of_size(size):
    bare = mail("")
    rows = b"\r\n" * ((size - len(bare)) // 2)
    return bare + rows + b"a" * (size - len(bare) - len(rows))


def nested(depth):
    inner = part("m13-j7")
    for number in range(depth - 1):
        inner = several([inner], boundary=f"b{number}")
    return inner


LIMITS = [
    (SIZE, of_size),
    (LINE, lambda size: mail("a" * size)),
    (FIELDS - 5, lambda count: mail("", headers={f"X-{n}": "a" for n in range(count)})),
    (PARTS - 1, lambda count: in_parts([part("a")] * count)),
    (NESTING, nested),
]


@pytest.mark.parametrize("bad", [b"a\nb", b"a\rb", b"a\0b", b"\n", b"a\r\r\n"])
def test_bare_line_ends_and_nuls_are_refused_wherever_they_are(bad):
    with pytest.raises(UnfitError):
        read(mail(bad))
    with pytest.raises(UnfitError):
        read(b"X-Field: " + bad + b"\r\n" + mail("m13-j7"))


@pytest.mark.parametrize(
    "head",
    [
        b"no field\r\n",
        b": a\r\n",
        b" a\r\n",
        b"a b: c\r\n",
        b"\xc3\xa4: a\r\n",
        b"A" * 101 + b":\r\n",
    ],
)
def test_a_header_that_is_none_is_refused(head):
    with pytest.raises(UnfitError, match="no field"):
        read(head + mail("m13-j7"))


@pytest.mark.parametrize("boundary", ["", '""', "a" * 71])
def test_parts_need_a_boundary(boundary):
    with pytest.raises(UnfitError, match="boundary"):
        read(mail("", headers={"Content-Type": f"multipart/mixed; boundary={boundary}"}))


def test_a_refusal_s_sentence_can_be_told_by_a_mail_server():
    with pytest.raises(UnfitError) as refused:
        read(mail("\xe4" * SIZE))
    assert str(refused.value).isascii()
    assert str(refused.value).isprintable()
