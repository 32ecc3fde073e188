"""Procession in other people's frameworks: one package for each. Nothing of ours imports them, and no rule is here."""
