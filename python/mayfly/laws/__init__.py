"""Laws of sizes and times: one registry, fits, families, and how a law is spelled."""
