"""Scripts that time other engines. They run elsewhere, beside those engines, and are never imported."""
