"""Mail as the server keeps and sends it.

`addresses` are those that players reply to, `letter` and `outbox` what waits to be sent, `relay` the
way out; `codes` and `bounces` are what is known of players' own addresses. Nothing is imported
here: the settings read `route` alone.
"""
