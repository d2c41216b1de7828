"""Generators: what turns a question and its context into an answer."""
