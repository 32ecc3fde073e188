"""How a project tests with Procession: rehearsed in memory, and on the test database. Run by ``manage.py test``."""

from __future__ import annotations

from pathlib import Path

from django.db import transaction
from django.test import TestCase, TransactionTestCase

from depot.models import Parcel
from procession.contrib.django import app, start
from procession.testing import Rehearsal

WRAPPING = Path(__file__).with_name("processes") / "wrapping.bpmn"


class InMemory(TransactionTestCase):
    """Handlers run in threads with connections of their own, so what they look for has to be committed."""

    def test_a_parcel_is_wrapped(self) -> None:
        with Rehearsal(app) as rehearsal:
            app.sync.deploy(WRAPPING)
            with transaction.atomic():
                parcel = Parcel.objects.create(name="a")
                key = start("wrapping", {"parcel": parcel.pk})
            rehearsal.drain()
            rehearsal.assert_completed(key)
            rehearsal.assert_no_failures()
        parcel.refresh_from_db()
        assert (parcel.packed, parcel.counted) == (1, 1)


class WithoutHandlers(TestCase):
    """Where no handler runs, the quick TestCase will do."""

    def test_a_parcel_asks_for_a_process(self) -> None:
        with Rehearsal(app) as rehearsal:
            app.sync.deploy(WRAPPING)
            with transaction.atomic():
                key = start("wrapping", {"parcel": 1})
            rehearsal.assert_enqueued("pack", count=1)
            rehearsal.assert_at(key, "pack")


class OnTheTestDatabase(TransactionTestCase):
    """The tables are in the test database too, and it is that one that the application works on."""

    def test_a_start_is_there_after_the_commit(self) -> None:
        with app.sync as procession:
            procession.deploy(WRAPPING)
            with transaction.atomic():
                key = start("wrapping", {"parcel": 1})
                assert procession.instances() == []
            assert [each.process_instance_key for each in procession.instances()] == [key]
            assert "test_" in app.url
