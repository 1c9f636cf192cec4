"""Bytes cut in places that hypothesis chooses."""

from itertools import pairwise

from hypothesis import strategies as st


def cut(data: bytes, places: list[int]) -> list[bytes]:
    """`data` in pieces, cut at `places` (each taken modulo its length)."""
    edges = [0, *sorted({place % (len(data) + 1) for place in places}), len(data)]
    return [data[a:b] for a, b in pairwise(edges)]


places = st.lists(st.integers(0, 10_000), max_size=40)
