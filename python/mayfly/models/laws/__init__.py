"""What is known of a law of sizes without a queue: its moments and gaps."""
