"""Measures the product: benchmarks, capacity, soak, and the PostgreSQL server they run on.

It drives the product only through its public interface, and nothing below it knows that it exists.
"""
