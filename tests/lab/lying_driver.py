"""A driver that says that it has done everything, and has done nothing."""

import json
import sqlite3
import sys


def say(words):
    sys.stdout.write(json.dumps(words) + "\n")
    sys.stdout.flush()


order = json.loads(sys.stdin.readline())
if order["settings"].get("fails"):
    say({"type": "failed", "error": "RuntimeError: no such queue"})
    sys.exit(1)
with sqlite3.connect(order["url"].removeprefix("sqlite:///").partition("?")[0]) as connection:
    if order["fills"]:
        connection.execute("create table job (number integer)")
        connection.executemany("insert into job values (?)", [(number,) for number in range(order["jobs"])])
sys.stdout.write("a remark of some library\n")
say({"type": "ready"})
sys.stdin.readline()
say({"type": "progress", "done": order["jobs"]})
sys.stdin.readline()
say({"type": "done", "done": order["jobs"]})
