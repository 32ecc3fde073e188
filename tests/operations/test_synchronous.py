"""A story of an operator's script without an event loop of its own."""

from __future__ import annotations

from procession import Procession
from procession.testing.bpmn import process, resource


def test_a_script_changes_migrates_and_deletes(tmp_path):
    model = process("order").start().user("check").user("pack").end()
    other = process("order").start().user("check").user("wrap").end()
    with Procession(f"sqlite:///{tmp_path / 'test.db'}").sync as app:
        (first,) = app.deploy(("order.bpmn", resource(model)))
        key = app.start("order")
        app.modify(key, move={"check": "pack"})
        app.suspend(key)
        app.resume(key)
        (second,) = app.deploy(("order.bpmn", resource(other)))
        target = second.process_definition_key
        findings = app.migrate_instance(key, target, dry_run=True)
        assert [(found.severity, found.element_id) for found in findings] == [("error", "pack")]
        app.migrate_instance(key, target, {"pack": "wrap"})
        app.delete_definition(first.process_definition_key)
        assert app.batch_progress(app.batch("cancel", which={"process_id": "order"})).total == 1
        app.cancel(key)
        app.delete_instance(key)
        assert app.instances() == []
