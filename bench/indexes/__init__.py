"""Approximate nearest neighbours (FAISS, https://faiss.ai), for corpora on which exact search takes too much."""
