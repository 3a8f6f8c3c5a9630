"""Which mails were taken, and how many answers an address was sent, on a real server."""

from infra.mail.processed import (
    PROCESSED_SECONDS,
    REPLIES_AN_HOUR,
    ProcessedMail,
    ReplyRateLimit,
    key_of,
)


def test_a_mail_that_was_taken_is_known_by_every_process(redis_client):
    key = key_of("m1-s0-x@play.example.org", "one@example.org")
    assert not ProcessedMail(redis_client).is_processed(key)
    ProcessedMail(redis_client).mark_processed(key)
    assert ProcessedMail(redis_client).is_processed(key)
    (name,) = redis_client.keys("*")
    assert 0 < redis_client.ttl(name) <= PROCESSED_SECONDS


def test_the_same_mail_to_another_recipient_is_another():
    one = key_of("a@play.example.org", "one@example.org")
    assert one == key_of("a@PLAY.example.org", "one@example.org")
    assert len({one, key_of("b@play.example.org", "one@example.org"), key_of("a@b", "")}) == 3


def test_answers_are_counted_for_an_address_and_by_all_processes_together(redis_client):
    first, second = ReplyRateLimit(redis_client), ReplyRateLimit(redis_client)
    admitted = [
        limit.admits("eve@example.org") for limit in [first, second] * (REPLIES_AN_HOUR // 2)
    ]
    assert all(admitted)
    assert not first.admits("eve@example.org")
    assert not second.admits("eve@EXAMPLE.org")
    assert second.admits("Eve@example.org"), "whose box that is, its own server knows"


def test_after_an_hour_an_address_is_answered_again(redis_client):
    limit = ReplyRateLimit(redis_client, most=1)
    assert limit.admits("eve@example.org")
    (name,) = redis_client.keys("*")
    assert 3_500 < redis_client.ttl(name) <= 3_600
    assert not limit.admits("eve@example.org")
    redis_client.delete(name)
    assert limit.admits("eve@example.org")


def test_no_address_stands_in_a_key(redis_client):
    ReplyRateLimit(redis_client).admits("eve@example.org")
    ProcessedMail(redis_client).mark_processed(
        key_of("m1-s0-secret@play.example.org", "eve@example.org")
    )
    assert not [name for name in redis_client.keys("*") if b"eve" in name or b"secret" in name]
