"""``python -m procession`` is the command line. Nothing imports it."""

from procession.cli import main

if __name__ == "__main__":
    main()
