"""Judges collections of other people's models: ``python -m tests.corpora [folder] [-v] [--only name]``.

Each corpus has a judge, found by `runner.judges` in this package's modules (``JUDGES``). Nothing of a corpus is copied.
"""
