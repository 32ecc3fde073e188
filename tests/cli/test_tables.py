"""Columns share a width: keys and states stay whole, texts give way, then what matters least is left out."""

from __future__ import annotations

from procession.cli.tables import KEY, Column, layout

NAME = Column("name")
STATE = Column("state", whole=True)
TAGS = Column("tags", rank=2)
CALLER = Column("called by", whole=True, rank=1)


def test_with_room_every_column_has_its_longest_cell():
    made = layout([KEY, NAME, STATE], [16, 30, 9], 120)
    assert (made.shown, made.widths, made.left_out) == ([0, 1, 2], [16, 30, 9], [])


def test_a_title_may_be_longer_than_the_cells():
    assert layout([Column("correlation key")], [4], 80).widths == [15]


def test_texts_give_way_before_keys_and_share_what_is_left():
    made = layout([KEY, NAME, Column("other")], [16, 100, 20], 80)
    assert made.widths[0] == 16
    assert made.widths[2] == 20
    assert sum(made.widths) + 2 * 2 == 80


def test_the_column_that_matters_least_is_left_out_first():
    made = layout([KEY, NAME, TAGS, CALLER], [16, 20, 20, 16], 50)
    assert made.left_out == [2]
    made = layout([KEY, NAME, TAGS, CALLER], [16, 20, 20, 16], 35)
    assert made.left_out == [2, 3]
    assert made.shown == [0, 1]


def test_columns_without_content_take_no_room():
    assert layout([KEY, NAME, TAGS], [16, 5, 0], 80).shown == [0, 1]


def test_what_must_be_shown_is_shown_even_where_it_does_not_fit():
    assert layout([KEY, STATE], [16, 9], 10).shown == [0, 1]
