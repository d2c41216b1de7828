"""Measures: small declarative definitions and the functions that compute them."""
