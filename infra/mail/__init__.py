"""Mail as the server keeps and sends it.

`addresses` makes the addresses that players reply to, `outbox` keeps e-mails until they are sent, and
`relay` sends them; `codes` and `standing` verify the players' own addresses. This module imports
nothing, because the settings import `route` alone.
"""
