"""The account, logging in, and links in mails."""
