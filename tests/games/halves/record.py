"""What is recorded of halves: matches of which options, and the board on file."""

FAMILIES = (
    (2, ""),
    (3, ""),
    (2, "-invert_win"),
    (3, "-invert_win"),
    (2, "-free_edges=4"),
    (2, "-manual_start"),
    (3, "-manual_start -touch_any"),
    (2, "-manual_start -must_touch=2"),
    (3, "-keep_chosen -tiles_each=6"),
    (2, "-keep_most_friendly -no_contract"),
)
BOARD_PLY = 5
