"""Packs: ready series of runs that answer one question about every discipline, each with its table and its page."""
