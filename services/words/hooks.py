"""Webhooks and channels in words: what is sent, the states of deliveries, and why one is off."""

from collections.abc import Mapping
from typing import Final

from domain.sentences import ENGLISH, Translation
from infra.languages.wording import N_, Wording
from infra.people.hooks import Delivery, DeliveryState, HookOff, HookTopic
from services.app.hooks import NO_ANSWERS
from services.words.news import happened

_TOPICS: Final[Mapping[HookTopic, str]] = {
    HookTopic.TURN: N_("your turn, and reminders"),
    HookTopic.CHALLENGE: N_("challenges and beginnings"),
    HookTopic.OFFER: N_("offers and answers"),
    HookTopic.CHAT: N_("chat and messages"),
    HookTopic.OVER: N_("ends, claims and rulings"),
    HookTopic.TOURNAMENT: N_("tournaments"),
}
_STATES: Final[Mapping[DeliveryState, str]] = {
    DeliveryState.WAITING: N_("waiting"),
    DeliveryState.SENT: N_("sent"),
    DeliveryState.FAILED: N_("failed"),
    DeliveryState.OVERTAKEN: N_("no longer true, so not sent"),
}
_OFF: Final[Mapping[HookOff, str]] = {
    HookOff.GONE: N_("Off, because the receiver answered that it doesn’t exist any more (410)."),
    HookOff.FAILED: N_("Off, because nothing has arrived for three days."),
    HookOff.ACCESS: N_("Off, because all access to the account was ended."),
}


def topic_names(words: Wording) -> dict[HookTopic, str]:
    """Return what can be sent, in words."""
    return {topic: words.gettext(said) for topic, said in _TOPICS.items()}


def delivery_name(one: Delivery, words: Wording) -> str:
    """Return the notice of a delivery in a few words."""
    if one.kind is not None:
        return happened(one.kind, words) or one.kind
    return words.gettext("test") if one.test else words.gettext("news")


def state_name(state: DeliveryState, words: Wording) -> str:
    """Return the state of a delivery in words."""
    return words.gettext(_STATES[state])


def why_off(off: HookOff, words: Wording) -> str:
    """Return why nothing is sent, as a sentence."""
    return words.gettext(_OFF[off])


def answer_text(one: Delivery, language: Translation = ENGLISH) -> str:
    """Return the first letters of the last answer, or why there was none."""
    if not one.status and one.answer in NO_ANSWERS:
        return NO_ANSWERS[one.answer].in_language(language)
    return one.answer


def trial_text(words: Wording) -> str:
    """Return what a test says."""
    return words.gettext("This is a test: messages arrive here.")
