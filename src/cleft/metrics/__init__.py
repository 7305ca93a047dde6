"""Scores: EVALB for syntax, Parseval for discourse, and how sure they are."""
