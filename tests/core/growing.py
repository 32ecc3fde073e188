"""Random processes: structured ones, which must always end, and tangled ones, which must never break a rule."""

from __future__ import annotations

from collections.abc import Callable

from hypothesis import strategies as st

from procession.testing.bpmn import ProcessBuilder, multi_instance, process, standard_loop

DEPTH_MAX = 3
Draw = Callable[[st.SearchStrategy], object]


class Grower:
    """Grows a block-structured process: every block has one way in and one way out."""

    def __init__(self, draw: Draw, name: str = "p") -> None:
        self.draw = draw
        self.builder = process(name).start()
        self.number = 0

    def grow(self) -> ProcessBuilder:
        """The whole process."""
        self.sequence(0)
        self.builder.end(self.id("end"))
        if self.chance(3):
            self.event_sub_process(1)
        return self.builder

    def id(self, word: str) -> str:
        self.number += 1
        return f"{word}{self.number}"

    def chance(self, of: int) -> bool:
        return self.draw(st.integers(1, of)) == 1

    def sequence(self, depth: int) -> None:
        """A few blocks one after the other."""
        blocks = [self.task, self.task, self.wait, self.signal, self.undo, self.call, self.link, self.listened]
        if depth < DEPTH_MAX:
            blocks += [self.exclusive, self.parallel, self.inclusive, self.again, self.scope, self.scope, self.choice]
            blocks += [self.ad_hoc, self.repeated, self.transaction, self.enough]
        for _ in range(self.draw(st.integers(1, 3 if depth else 4))):
            self.draw(st.sampled_from(blocks))(depth)

    # -- blocks ---------------------------------------------------------------------------------------------------
    def task(self, depth: int) -> None:
        """Some work; sometimes with a boundary event or a compensation handler."""
        del depth
        name = self.id("task")
        kind = self.draw(st.sampled_from(["service", "user", "script", "task", "loop"]))
        if kind == "script":
            self.builder.script(name, "v + 1", result="w")
        elif kind == "loop":
            self.builder.service(name, loop=standard_loop("=v > 1", maximum=3))
        else:
            getattr(self.builder, kind)(name)
        if kind == "service" and self.chance(3):
            self.builder.compensation(self.id("undo"), on=name, type="undo")
        elif kind in {"service", "user"} and self.chance(3):
            self.boundary(name)

    def boundary(self, host: str, **options: str) -> None:
        """An event on an activity; an interrupting one's way comes back behind the activity, another ends apart."""
        triggers = [{"timer": "PT1H"}, {"message": "m", "key": "=1"}, {"signal": "t"}, {"condition": "=v = 2"}]
        options = options or dict(self.draw(st.sampled_from([*triggers, {"escalation": "E"}])))
        interrupting = "error" in options or self.chance(2)
        if not interrupting:
            self.builder.boundary(self.id("event"), on=host, interrupting=False, **options)
            self.builder.service(self.id("task")).end(self.id("end")).at(host)
            return
        merge = self.id("merge")
        self.builder.exclusive(merge).boundary(self.id("event"), on=host, **options)
        self.builder.service(self.id("task")).to(merge).at(merge)

    def wait(self, depth: int) -> None:
        """A catch event."""
        del depth
        triggers = [{"timer": "PT1M"}, {"message": "m", "key": "=1"}, {"signal": "t"}, {"condition": "=v < 2"}]
        self.builder.catch(self.id("wait"), **dict(self.draw(st.sampled_from(triggers))))

    def signal(self, depth: int) -> None:
        """A throw event."""
        del depth
        self.builder.throw(self.id("throw"), **dict(self.draw(st.sampled_from([{"signal": "t"}, {"escalation": "E"}]))))

    def undo(self, depth: int) -> None:
        """Compensation of the scope."""
        del depth
        self.builder.throw(self.id("compensate"), compensate="")

    def call(self, depth: int) -> None:
        """Another process, whose error is caught here."""
        del depth
        name = self.id("call")
        options = {"loop": multi_instance("=[1, 2]", element="item")} if self.chance(4) else {}
        self.builder.call(name, process="q", **options)
        self.boundary(name, error="X")

    def link(self, depth: int) -> None:
        """A jump."""
        del depth
        name = self.id("link")
        self.builder.throw(self.id("jump"), link=name).apart().catch(self.id("land"), link=name)

    def listened(self, depth: int) -> None:
        """A user task or a gateway with listeners; canceling ones hold up whatever interrupts the task."""
        del depth
        kinds = [{"canceling": "told"}, {"start": "told", "end": "told"}, {"completing": "told", "canceling": "told"}]
        name = self.id("user")
        self.builder.user(name, listeners=self.draw(st.sampled_from(kinds)))
        self.boundary(name)

    def transaction(self, depth: int) -> None:
        """Cancelled when v is 2: what completed is compensated, and the way comes back behind it."""
        name, choice = self.id("transaction"), self.id("choice")
        self.builder.transaction(name).start(self.id("start"))
        work = self.id("task")
        self.builder.service(work).compensation(self.id("undo"), on=work, type="undo").at(work)
        self.sequence(depth + 1)
        self.builder.exclusive(choice).when("=v = 2").end(self.id("cancel"), cancel=True)
        self.builder.at(choice).otherwise().end(self.id("end")).done()
        merge = self.id("merge")
        self.builder.exclusive(merge).boundary(self.id("cancelled"), on=name, cancel=True).to(merge).at(merge)

    def enough(self, depth: int) -> None:
        """A complex gateway that goes on with the second of three tokens."""
        fork, join = self.id("fork"), self.id("enough")
        self.builder.parallel(fork)
        for number in range(3):
            self.builder.at(fork)
            self.sequence(depth + 2)
            if number:
                self.builder.to(join)
            else:
                self.builder.complex(join, activation="=activationCount >= 2")
        self.builder.at(join)

    def branches(self, kind: str, depth: int, condition: Callable[[int], str] | None) -> None:
        """A split, branches, and a join of the same kind."""
        split, join = self.id(kind), self.id(kind)
        getattr(self.builder, kind)(split)
        for number in range(self.draw(st.integers(2, 3))):
            self.builder.at(split)
            if condition is not None and number == 0:
                self.builder.otherwise()
            elif condition is not None:
                self.builder.when(condition(number))
            self.sequence(depth + 1)
            if number:
                self.builder.to(join)
            else:
                getattr(self.builder, kind)(join)
        self.builder.at(join)

    def exclusive(self, depth: int) -> None:
        self.branches("exclusive", depth, lambda number: f"=v = {number}")

    def inclusive(self, depth: int) -> None:
        self.branches("inclusive", depth, lambda number: f"=v >= {number}")

    def parallel(self, depth: int) -> None:
        self.branches("parallel", depth, None)

    def choice(self, depth: int) -> None:
        """An event-based gateway."""
        gateway, join = self.id("choice"), self.id("merge")
        self.builder.events(gateway).catch(self.id("wait"), timer="PT1H")
        self.sequence(depth + 1)
        self.builder.exclusive(join)
        self.builder.at(gateway).catch(self.id("wait"), message="m", key="=1").to(join).at(join)

    def again(self, depth: int) -> None:
        """A loop that is left unless v is 2."""
        head, foot = self.id("again"), self.id("enough")
        self.builder.exclusive(head)
        self.sequence(depth + 1)
        self.builder.service(self.id("task")).exclusive(foot).when("=v = 2").to(head).at(foot).otherwise()

    def scope(self, depth: int) -> None:
        """A sub-process, sometimes repeated, with event sub-processes and boundary events."""
        name = self.id("scope")
        options = {}
        if self.chance(3):
            options["loop"] = multi_instance(
                "=[1, 2, 3]", element="item", sequential=self.chance(2), output="out", result="=item"
            )
        self.builder.sub_process(name, **options).start(self.id("start"))
        self.sequence(depth + 1)
        kinds = [{}, {}, {"error": "X"}, {"escalation": "E"}, {"signal": "t"}, {"terminate": True}]
        self.builder.end(self.id("end"), **dict(self.draw(st.sampled_from(kinds))))
        if self.chance(3):
            self.event_sub_process(depth + 1)
        self.builder.done()
        self.boundary(name, error="")

    def event_sub_process(self, depth: int) -> None:
        """Started by what nothing within the process throws: else it could start itself without an end."""
        triggers = [{"message": "m", "key": "=1"}, {"signal": "s"}, {"error": "X"}, {"timer": "PT2H"}]
        options = dict(self.draw(st.sampled_from(triggers)))
        interrupting = "error" in options or self.chance(2)
        self.builder.event_sub_process(self.id("handler")).start(self.id("start"), interrupting=interrupting, **options)
        self.sequence(min(depth + 2, DEPTH_MAX))
        self.builder.end(self.id("end")).done()

    def ad_hoc(self, depth: int) -> None:
        del depth
        self.builder.ad_hoc(self.id("free"), sequential=self.chance(2)).service(self.id("task")).done()

    def repeated(self, depth: int) -> None:
        """A repeated task."""
        del depth
        until = "=numberOfCompletedInstances >= 2" if self.chance(2) else ""
        loop = multi_instance("=[1, 2, 3]", element="item", sequential=self.chance(2), until=until)
        self.builder.service(self.id("repeat"), loop=loop)


def structured(draw: Draw) -> tuple[ProcessBuilder, ProcessBuilder]:
    """A process of nested blocks, and the one that it calls."""
    called = process("q").start().exclusive("which").when("=v = 1").end("broken", error="X").at("which").otherwise()
    called.service("inner").end()
    return Grower(draw).grow(), called


KINDS = ["service", "service", "user", "exclusive", "parallel", "inclusive", "complex", "task", "catch", "sub", "many"]
ENDS = [{}, {}, {"terminate": True}, {"error": "X"}, {"escalation": "E"}, {"compensate": ""}, {"signal": "t"}]
EVENTS = [{"timer": "PT1H"}, {"message": "m", "key": "=1"}, {"signal": "t"}, {"condition": "=v = 2"}, {"error": "X"}]


def tangled(draw: Draw) -> ProcessBuilder:
    """Elements of many kinds, with boundary events, handlers and event sub-processes, and flows between any of them."""
    count = draw(st.integers(2, 7))
    names = [f"n{number}" for number in range(count)]
    builder = process("p").start().service("first")
    for name in names:
        _knot(builder, name, draw)
    builder.end("end", **dict(draw(st.sampled_from(ENDS))))
    for source in names:
        for target in draw(st.lists(st.sampled_from(names), max_size=2, unique=True)):
            condition = draw(st.sampled_from(["", "=v = 1", "=v = 2"]))
            builder.at(source)
            if condition:
                builder.when(condition)
            builder.to(target)
    if draw(st.booleans()):
        event = dict(draw(st.sampled_from(EVENTS)))
        interrupting = "error" in event or draw(st.booleans())
        builder.event_sub_process("handler").start("happens", interrupting=interrupting, **event)
        builder.service("handle").end("handled").done()
    return builder


def _knot(builder: ProcessBuilder, name: str, draw: Draw) -> None:
    """One element of a tangle, reached from the one before, with what hangs on it."""
    kind = draw(st.sampled_from(KINDS))
    match kind:
        case "catch":
            builder.catch(name, **dict(draw(st.sampled_from(EVENTS[:4]))))
        case "sub":
            builder.sub_process(name).start(f"{name}s").user(f"{name}u", listeners={"canceling": "told"})
            builder.end(f"{name}e", **dict(draw(st.sampled_from(ENDS)))).done()
        case "many":
            until = draw(st.sampled_from(["", "=numberOfCompletedInstances >= 2"]))
            builder.service(name, loop=multi_instance("=[1, 2, 3]", sequential=draw(st.booleans()), until=until))
        case "complex":
            builder.complex(name, activation="=activationCount >= 2")
        case _:
            getattr(builder, kind)(name)
    if kind in {"service", "user", "sub", "many"} and draw(st.integers(1, 3)) == 1:
        event = dict(draw(st.sampled_from(EVENTS)))
        interrupting = "error" in event or draw(st.booleans())
        builder.boundary(f"{name}b", on=name, interrupting=interrupting, **event).service(f"{name}after")
        builder.end(f"{name}over").at(name)
    elif kind in {"service", "many"} and draw(st.integers(1, 3)) == 1:
        builder.compensation(f"{name}undo", on=name, type="undo").at(name)
