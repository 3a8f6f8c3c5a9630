"""What is recorded of jump: matches of which options, and the board on file."""

FAMILIES = (
    (1, ""),
    (1, "-solitaire=a1,a7,a9,b4,c3,c6,c9,d2,d10,e1,e5,e11,f3,f8,g4,g9,h6,h11,i1,i5,i13,j4"),
)
BOARD_PLY = 12
