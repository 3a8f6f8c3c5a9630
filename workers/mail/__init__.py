"""The mailer: builds e-mails from the logs and sends them."""
