"""The mailer: what happens is made letters of, and letters are sent."""
