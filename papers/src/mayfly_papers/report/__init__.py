"""What is done with claims: run, compared, shown, published."""
