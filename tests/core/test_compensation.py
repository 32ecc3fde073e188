"""Stories of compensation and transactions."""

from __future__ import annotations

from procession.testing.bpmn import multi_instance, process


def booking():
    """Two bookings with handlers, then a decision to take them back."""
    return (
        process("p")
        .start()
        .service("hotel")
        .compensation("cancel hotel", on="hotel", type="cancel-hotel")
        .service("flight")
        .compensation("cancel flight", on="flight", type="cancel-flight")
        .service("pay")
    )


def test_handlers_run_in_reverse_order_and_the_throwing_event_waits(world):
    """Scenario 56."""
    world.deploy(booking().throw("undo", compensate="").service("after").end())
    run = world.start("p").complete("hotel").complete("flight").complete("pay")
    assert run.active == ["cancel flight", "undo"]
    run.complete("cancel flight")
    assert run.active == ["cancel hotel", "undo"]
    run.complete("cancel hotel")
    assert run.active == ["after"]
    assert run.complete("after").ended


def test_a_handler_without_work_runs_within_the_step(world):
    """Scenario 56."""
    world.deploy(
        process("p")
        .start()
        .service("a")
        .compensation("undo a", on="a")
        .throw("undo", compensate="")
        .service("after")
        .end()
    )
    run = world.start("p").complete("a")
    assert run.active == ["after"]
    assert run.passed == ["start", "a", "undo", "undo a", "after"]


def test_an_activity_that_completed_three_times_is_compensated_three_times(world):
    """Scenario 57."""
    world.deploy(
        process("p")
        .start()
        .exclusive("again")
        .service("book")
        .compensation("cancel", on="book", type="cancel")
        .script("count", "n + 1", result="n")
        .exclusive("enough")
        .when("=n < 3")
        .to("again")
        .at("enough")
        .otherwise()
        .throw("undo", compensate="")
        .end()
    )
    run = world.start("p", {"n": 0}).complete("book").complete("book").complete("book")
    for _ in range(3):
        assert run.active == ["cancel", "undo"]
        run.complete("cancel")
    assert run.ended
    assert run.count("cancel") == 3


def test_an_activity_that_is_active_or_was_terminated_is_not_compensated(world):
    """Scenario 58."""
    world.deploy(
        process("p")
        .start()
        .parallel("fork")
        .service("active")
        .compensation("undo active", on="active", type="x")
        .end()
        .at("fork")
        .service("broken")
        .compensation("undo broken", on="broken", type="x")
        .end("e2")
        .boundary("failed", on="broken", error="X")
        .throw("undo", compensate="")
        .service("after")
        .end("e3")
    )
    run = world.start("p").throw("broken", "X")
    assert run.active == ["active", "after"]


def test_compensation_thrown_twice_runs_handlers_once(world):
    """Scenario 59."""
    world.deploy(booking().throw("undo", compensate="").throw("undo again", compensate="").end())
    run = world.start("p").complete("hotel").complete("flight").complete("pay")
    run.complete("cancel flight").complete("cancel hotel")
    assert run.ended
    assert run.count("cancel hotel") == 1


def test_a_compensation_of_one_activity_leaves_the_others(world):
    """Scenario 60."""
    world.deploy(booking().throw("undo", compensate="hotel").service("after").end())
    run = world.start("p").complete("hotel").complete("flight").complete("pay")
    assert run.active == ["cancel hotel", "undo"]
    assert run.complete("cancel hotel").active == ["after"]


def nested(inside: str):
    builder = (
        process("p")
        .start()
        .service("before")
        .compensation("undo before", on="before", type="x")
        .sub_process("s", inputs={"room": "=room"})
        .start("s1")
        .service("hotel")
        .compensation("cancel hotel", on="hotel", type="cancel")
        .service("flight")
        .compensation("cancel flight", on="flight", type="cancel")
    )
    if inside == "inside":
        return builder.throw("undo", compensate="").end("e1").done().service("after").end()
    return builder.end("e1").done().service("pay").throw("undo", compensate="").end()


def test_a_throw_within_a_sub_process_compensates_that_scope_only(world):
    """Scenario 61."""
    world.deploy(nested("inside"))
    run = world.start("p", {"room": 1}).complete("before").complete("hotel").complete("flight")
    assert run.active == ["cancel flight", "s", "undo"]
    run.complete("cancel flight").complete("cancel hotel")
    assert run.active == ["after"]
    assert run.count("undo before") == 0


def test_a_throw_outside_compensates_what_completed_within_with_its_variables(world):
    """Scenario 61."""
    world.deploy(nested("outside"))
    run = world.start("p", {"room": 7}).complete("before").complete("hotel").complete("flight")
    run.set(room=8)
    run.complete("pay")
    assert run.active == ["cancel flight", "undo"]
    assert run.local("cancel flight")["room"] == 7
    run.complete("cancel flight").complete("cancel hotel")
    assert run.active == ["undo", "undo before"]
    assert run.complete("undo before").ended


def with_own_handler():
    return (
        process("p")
        .start()
        .sub_process("s")
        .start("s1")
        .service("hotel")
        .compensation("cancel hotel", on="hotel", type="cancel")
        .end("e1")
        .event_sub_process("undo s")
        .start("on undo", compensate="")
        .service("call the customer")
        .exclusive("x")
        .when("=all")
        .throw("undo inner", compensate="")
        .end("e2")
        .at("x")
        .otherwise()
        .end("e3")
        .done()
        .done()
        .service("pay")
        .throw("undo", compensate="")
        .service("after")
        .end()
    )


def test_a_compensation_event_sub_process_replaces_the_handlers_within(world):
    """Scenario 62."""
    world.deploy(with_own_handler())
    run = world.start("p").complete("hotel").complete("pay")
    assert run.active == ["call the customer", "undo", "undo s"]
    run.complete("call the customer", {"all": False})
    assert run.active == ["after"]
    assert run.count("cancel hotel") == 0


def test_a_compensation_event_sub_process_may_run_the_handlers_within(world):
    """Scenario 62."""
    world.deploy(with_own_handler())
    run = world.start("p").complete("hotel").complete("pay").complete("call the customer", {"all": True})
    assert run.active == ["cancel hotel", "undo", "undo inner", "undo s"]
    assert run.complete("cancel hotel").active == ["after"]


def test_a_call_activity_is_compensated_by_its_own_handler(world):
    """Scenario 63."""
    world.deploy(
        process("p")
        .start()
        .call("call", process="child")
        .compensation("undo call", on="call", type="x")
        .service("pay")
        .throw("undo", compensate="")
        .end(),
        process("child").start().service("a").compensation("undo a", on="a", type="x").end(),
    )
    run = world.start("p")
    child = run.called("call").complete("a")
    run.complete("pay")
    assert run.active == ["undo", "undo call"]
    assert child.count("undo a") == 0
    assert run.complete("undo call").ended


def test_a_handler_runs_per_inner_instance_with_its_own_variables(world):
    """Scenario 64: BPMN's recommendation, as in Camunda 7; Camunda 8 runs it once for the body."""
    world.deploy(
        process("p")
        .start()
        .service("book", loop=multi_instance("=[10, 20]", element="item"))
        .compensation("cancel", on="book", type="cancel")
        .service("pay")
        .throw("undo", compensate="")
        .end()
    )
    run = world.start("p").complete("book").complete("book").complete("pay")
    assert run.local("cancel") == {"item": 20, "loopCounter": 2}
    run.complete("cancel")
    assert run.local("cancel") == {"item": 10, "loopCounter": 1}
    assert run.complete("cancel").ended


def test_a_repeated_activity_that_is_still_active_is_not_compensated(world):
    """Scenarios 58 and 64."""
    world.deploy(
        process("p")
        .start()
        .parallel("fork")
        .service("book", loop=multi_instance("=[10, 20]", element="item"))
        .compensation("cancel", on="book", type="cancel")
        .end()
        .at("fork")
        .service("pay")
        .throw("undo", compensate="")
        .service("after")
        .end("e2")
    )
    run = world.start("p").complete("book").complete("pay")
    assert run.active == ["after", "book", "book"]


def test_a_handler_that_fails_keeps_the_throwing_event_waiting(world):
    """Scenario 65."""
    world.deploy(booking().throw("undo", compensate="hotel").service("after").end())
    run = world.start("p").complete("hotel").complete("flight").complete("pay").fail("cancel hotel")
    assert run.active == ["cancel hotel", "undo"]
    run.resolve().complete("cancel hotel")
    assert run.active == ["after"]


def test_an_event_that_does_not_wait_for_compensation_goes_on(world):
    """waitForCompletion="false" (BPMN 2.0, 10.5.5)."""
    content = booking().throw("undo", compensate="").service("after").end().text()
    content = content.replace("compensateEventDefinition", 'compensateEventDefinition waitForCompletion="false"')
    world.deploy(content.encode())
    run = world.start("p").complete("hotel").complete("flight").complete("pay")
    assert run.active == ["after", "cancel flight", "cancel hotel"]
    run.complete("after").complete("cancel flight")
    assert not run.ended
    assert run.complete("cancel hotel").ended


def trip():
    return (
        process("p")
        .start()
        .transaction("t")
        .start("s1")
        .parallel("fork")
        .service("hotel")
        .compensation("cancel hotel", on="hotel", type="cancel")
        .service("flight")
        .compensation("cancel flight", on="flight", type="cancel")
        .exclusive("x")
        .when('=how = "cancel"')
        .end("cancel", cancel=True)
        .at("x")
        .when('=how = "error"')
        .end("broken", error="X")
        .at("x")
        .otherwise()
        .end("well")
        .at("fork")
        .service("slow")
        .compensation("undo slow", on="slow", type="cancel")
        .end("e1")
        .done()
        .service("booked")
        .throw("undo later", compensate="")
        .end()
        .boundary("cancelled", on="t", cancel=True)
        .service("tell")
        .end("e2")
        .boundary("hazard", on="t", error="X")
        .service("repair")
        .end("e3")
    )


def test_a_cancelled_transaction_ends_what_is_active_and_compensates_what_completed(world):
    """Scenario 66."""
    world.deploy(trip())
    run = world.start("p").complete("hotel").complete("flight", {"how": "cancel"})
    assert run.active == ["cancel", "cancel flight", "t"]
    assert run.removed == ["slow"]
    run.complete("cancel flight")
    assert run.active == ["cancel", "cancel hotel", "t"]
    run.complete("cancel hotel")
    assert run.active == ["tell"]
    assert run.complete("tell").ended


def test_an_error_in_a_transaction_does_not_compensate(world):
    """Scenario 67."""
    world.deploy(trip())
    run = world.start("p").complete("hotel").complete("flight", {"how": "error"})
    assert run.active == ["repair"]
    assert run.count("cancel hotel") == 0


def test_a_successful_transaction_leaves_normally_and_can_be_compensated_later(world):
    """Scenario 67."""
    world.deploy(trip())
    run = world.start("p").complete("hotel").complete("flight", {"how": "well"}).complete("slow")
    assert run.active == ["booked"]
    run.complete("booked")
    for handler in ("undo slow", "cancel flight", "cancel hotel"):
        assert run.active == sorted([handler, "undo later"])
        run.complete(handler)
    assert run.ended


def test_a_cancel_end_event_in_an_event_sub_process_cancels_the_transaction_around_it(world):
    """Scenario 66."""
    world.deploy(
        process("p")
        .start()
        .transaction("t")
        .start("s1")
        .service("hotel")
        .compensation("cancel hotel", on="hotel", type="cancel")
        .service("other")
        .end("e0")
        .event_sub_process("refused")
        .start("on refusal", message="refused", key="=1", interrupting=False)
        .service("ask")
        .end("cancel", cancel=True)
        .done()
        .done()
        .end()
        .boundary("cancelled", on="t", cancel=True)
        .service("tell")
        .end("e2")
    )
    run = world.start("p").complete("hotel")
    world.publish("refused", "1")
    run.complete("ask")
    assert run.active == ["cancel", "cancel hotel", "refused", "t"]
    assert run.complete("cancel hotel").active == ["tell"]


def test_a_multiple_throw_goes_on_with_the_rest_when_the_handlers_are_done(world):
    """Scenario 46: compensation is one of the events that are thrown in order."""
    world.deploy(
        booking().throw("undo", compensate="hotel", signal="undone").service("after").end(),
        process("heard").start(signal="undone").service("x").end(),
    )
    run = world.start("p").complete("hotel").complete("flight").complete("pay")
    assert not world.runs("heard")
    run.complete("cancel hotel")
    assert len(world.runs("heard")) == 1
    assert run.active == ["after"]
