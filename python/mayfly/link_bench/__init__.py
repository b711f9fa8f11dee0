"""What each set-up at a link that varies costs of its rate and of its delay."""
