"""Many runs: over scenario fields, disciplines and seeds, on one machine or several, resumed where they stopped."""
