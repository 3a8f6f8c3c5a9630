"""Mail and push: messages on their way to people, and the mail that comes in.

`addresses` makes the addresses that players reply to, `outbox` keeps e-mails until they are sent, and
`smtp_client` sends them; `verification_codes` and `address_status` verify the players' own addresses.
Notifications in browsers (RFC 8030, 8291, 8292) wait in `push_queue` and are sent by `push_client`.
"""
