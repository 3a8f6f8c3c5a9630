"""The state of a running server, for its operator: signs of life, secrets, the lag of publication and retirement."""
