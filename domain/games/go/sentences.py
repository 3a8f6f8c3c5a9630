"""The sentences of Go: refused moves, endings, and the words of drawings and pages."""

from domain.sentences import Sentences, counted, words

SAY = Sentences(
    "go",
    {
        "side": "{seat:side}",
        "form": "a move is written as one point, such as e5, or pass; after two passes also propose, agree, resume",
        "over": "the match is over: the points have been counted",
        "off-board": "this board ends at {last}",
        "taken": "{stone:stone} is already there",
        "suicide": "a stone there would have no liberty",
        "repeats": "that would repeat an earlier position of the board",
        "playing": "you can only say that after two passes",
        "counting": "both have passed: mark dead stones, or write propose",
        "counting-answer": "both have passed: write agree or resume, or mark more dead stones",
        "no-stone": "there is no stone to mark as dead",
        "dead-already": "that stone is already marked as dead",
        "unproposed": "there is nothing to answer yet; write propose when all dead stones are marked",
        "answer": "answer what {other:side} has marked with agree or resume, or mark more dead stones",
        "won": "{winner:side} wins by {by}.5 points: {black} for Black, {white} for White and {komi}.5 komi",
        # drawings and pages
        "stones": "{stones:stones}",
        "points": "{points:points}",
        "points-komi": "{points:points} and {komi}.5 komi",
        "stone-of": "{stone:stone}",
        "dead-of": "{stone:stone}, marked as dead",
        "place-or-pass": "Choose a point for your stone, or pass",
        "mark": "Choose the dead stones, one of each chain",
        "mark-or-answer": "Agree with what {other} has marked, or mark more dead stones",
        "pass": "Pass",
        "pass-first": "if your opponent passes, too, the points are counted",
        "pass-second": "both have passed then, and the points are counted",
        "propose": "All dead stones are marked",
        "propose-follows": "your opponent is asked to agree",
        "agree": "Agree",
        "agree-follows": "the match ends, and {result}",
        "resume": "Play on",
        "resume-follows": (
            "all marks are removed and {other} moves next; after two more passes everything on the "
            "board counts as alive"
        ),
    },
    side=words("Black", "White"),
    stone=words("a black stone", "a white stone"),
    stones=counted("{n} stone", "{n} stones"),
    points=counted("{n} point", "{n} points"),
)
