"""What an operator asks of a running server: signs of life, its secrets, the lag of publication and of retirement."""
