"""Mail as the server keeps and sends it.

`addresses` makes the addresses that players reply to, `outbox` keeps e-mails until they are sent, and
`smtp_client` sends them; `verification_codes` and `address_status` verify the players' own addresses.
This module imports nothing, because the settings import `smtp_url` alone.
"""
