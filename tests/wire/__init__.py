"""Servers on a real socket for tests: scripted models, replayed recordings and plain misbehaviour."""
