"""Several instances in memory under one virtual clock: they call each other, and share messages, signals and timers.

    world = CoreWorld()
    world.deploy(process("order").start().service("pay").end())
    order = world.start("order", {"total": 12})
    order.complete("pay")
    assert order.ended

What the engine and its stores do between instances is done here in the plainest way, so that the rules can be told as
stories without either. Follow-ups are carried out in order until none is left; ``held`` gathers them, for races.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from typing import Any, Self

import msgspec

from procession.core import starts_that_hold
from procession.core.commands import (
    AnyCommand,
    BroadcastSignal,
    CallProcess,
    ChildEnded,
    Correlate,
    FireTimer,
    FollowUp,
    PublishMessage,
    Send,
    StartInstance,
)
from procession.core.events import Ended, Event, Resumed, Subscribed, WaitClosed
from procession.errors import Conflict, NotFound, Rejected
from procession.ids import Keys
from procession.jobs.schedule import Due, cycle_due, date_due, duration_due, next_due, to_datetime
from procession.model import compile_resource
from procession.model.definition import Definition, Element, EventSpec, TimerKind, Trigger
from procession.testing.bpmn import ProcessBuilder, resource
from procession.testing.core import DAY_ONE, CoreRun
from procession.testing.world_messages import Channel, Message, Messages

FOLLOW_UPS_MAX = 200_000


class Endless(AssertionError):
    """The instances keep each other, or themselves, busy without an end."""


class WorldRun(CoreRun):
    """One instance of a world."""

    def __init__(self, world: CoreWorld, definition: Definition, instance: int) -> None:
        super().__init__(definition, instance=instance, keys=world.keys)
        self.world = world

    def send(self, command: AnyCommand) -> Self:
        """Decide a command and carry out what follows, here and elsewhere."""
        self.world.step(self, command)
        self.world.settle()
        return self

    def migrate(self, target: Definition, mapping: Mapping[str, str] | None = None) -> Self:
        """Go on under another definition."""
        self.now = self.world.now
        super().migrate(target, mapping)
        self.world.note_all(self, self.follow_ups)
        self.follow_ups.clear()
        self.world.settle()
        return self

    def advance(self, milliseconds: int) -> Self:
        """Turn the world's clock."""
        self.world.advance(milliseconds)
        return self

    def fire(self, element_id: str) -> Self:
        """The oldest timer of a catching element is due: turn the world's clock to its instant."""
        index = self.definition.index_of[element_id]
        wait = next(wait for _, wait in self.waits() if wait.element == index and wait.due)
        self.world.now = max(self.world.now, wait.due)
        return self.send(FireTimer(wait.key))

    def called(self, element_id: str) -> WorldRun:
        """The instance that a call activity called and waits for."""
        return self.world.instances[self.node(element_id).called]


class StartTimer(msgspec.Struct):
    """A timer start event's next firing."""

    definition: Definition
    element: Element
    due: Due


class CoreWorld:
    """Definitions, instances, messages and the clock."""

    def __init__(self, *, now: int = DAY_ONE, follow_ups_max: int = FOLLOW_UPS_MAX) -> None:
        self.now = now
        self.follow_ups_max = follow_ups_max
        self.keys = Keys(range(1, 1 << 40))
        self.instances: dict[int, WorldRun] = {}
        self.definitions: dict[str, list[Definition]] = {}
        self.deployments: dict[int, dict[str, Definition]] = {}
        self.start_timers: list[StartTimer] = []
        self.messages = Messages()
        self.subscriptions: dict[int, tuple[int, Subscribed]] = {}  # by key: instance and how it was opened
        self.queue: deque[FollowUp] = deque()
        self.rejected: list[str] = []  # follow-ups that an instance had no use for any more
        self._held = False

    # -- commands -------------------------------------------------------------------------------------------------
    def deploy(
        self,
        *models: ProcessBuilder | bytes,
        methods: tuple[str, ...] = (),
        lenient: bool = False,
        executable_only: bool = True,
    ) -> None:
        """Deploy processes together: each becomes the latest version of its id."""
        contents = [model for model in models if isinstance(model, bytes)]
        builders = [model for model in models if isinstance(model, ProcessBuilder)]
        if builders:
            contents.append(resource(*builders))
        together: dict[str, Definition] = {}
        for content in contents:
            compiled = compile_resource(content, methods=methods, lenient=lenient, executable_only=executable_only)
            for definition in compiled.definitions:
                versions = self.definitions.setdefault(definition.process_id, [])
                stored = msgspec.structs.replace(definition, key=self.keys.take(), version=len(versions) + 1)
                versions.append(stored)
                together[stored.process_id] = stored
                self.deployments[stored.key] = together
                self._arm_start_timers(stored)

    def start(
        self,
        process_id: str,
        variables: dict[str, Any] | None = None,
        **options: Any,  # noqa: ANN401 - whatever StartInstance takes
    ) -> WorldRun:
        """Start an instance of the latest version."""
        run = self._begin(self.latest(process_id), StartInstance(self.keys.take(), variables or {}, **options))
        self.settle()
        return run

    def start_by_conditions(self, process_id: str, variables: dict[str, Any] | None = None) -> list[WorldRun]:
        """Start an instance of the latest version at each conditional start event that holds."""
        definition, given = self.latest(process_id), variables or {}
        starts = starts_that_hold(definition, given, to_datetime(self.now))
        runs = [self._begin(definition, StartInstance(self.keys.take(), given, start=start)) for start in starts]
        self.settle()
        return runs

    def publish(
        self,
        name: str,
        key: str = "",
        variables: dict[str, Any] | None = None,
        *,
        ttl_ms: int = 0,
        message_id: str = "",
    ) -> int:
        """Publish a message: to one instance per process, else a start event, else it waits. Returns who took it."""
        taker = self._publish(name, key, variables or {}, ttl_ms, message_id)
        self.settle()
        return taker

    def _publish(self, name: str, key: str, variables: dict[str, Any], ttl_ms: int, message_id: str) -> int:
        message = Message(
            self.keys.take(), Channel(name, key), variables, self.now + ttl_ms, message_id, taken=set[str]()
        )
        self.messages.admit(message, self.now)
        taker = self._offer(message)
        if ttl_ms > 0:
            self.messages.keep(message)
        return taker

    def correlate(self, name: str, key: str = "", variables: dict[str, Any] | None = None) -> int:
        """Correlate a message now or not at all. Raises NotFound."""
        taker = self.publish(name, key, variables)
        if not taker:
            message = f"Nothing waits for the message '{name}' with the key '{key}'"
            raise NotFound(message)
        return taker

    def broadcast(self, name: str, variables: dict[str, Any] | None = None) -> None:
        """Broadcast a signal: to everything that waits for it now, and the start events of latest versions."""
        self._broadcast(name, variables or {})
        self.settle()

    def advance(self, milliseconds: int) -> None:
        """Turn the clock, firing every timer at its instant, in order."""
        until = self.now + milliseconds
        while (due := self._next_due()) is not None and due[0] <= until:
            self.now = max(self.now, due[0])
            self._fire(due[1])
            self.settle()
        self.now = until
        self.messages.sweep(self.now)

    @contextmanager
    def held(self) -> Generator[None]:
        """Gather follow-ups instead of carrying them out, so that several commands fall in one moment."""
        self._held = True
        yield
        self._held = False
        self.settle()

    # -- what is to be seen ---------------------------------------------------------------------------------------
    def latest(self, process_id: str) -> Definition:
        """The latest version of a process. Raises NotFound."""
        versions = self.definitions.get(process_id)
        if not versions:
            message = f"There is no process '{process_id}'"
            raise NotFound(message)
        return versions[-1]

    def runs(self, process_id: str) -> list[WorldRun]:
        """The instances of a process, oldest first."""
        return [run for run in self.instances.values() if run.definition.process_id == process_id]

    def buffered(self) -> list[str]:
        """Names of the messages that wait, oldest first."""
        return [message.channel.name for message in self.messages.waiting(self.now)]

    # -- carrying out ---------------------------------------------------------------------------------------------
    def step(self, run: WorldRun, command: AnyCommand) -> None:
        """One step of one instance: its events change what the world keeps, its follow-ups are queued."""
        run.now = self.now
        self.note_all(run, run.decide(command))

    def note_all(self, run: WorldRun, follow_ups: list[FollowUp]) -> None:
        """Take over the follow-ups and events of an instance's last step."""
        self.queue.extend(follow_ups)
        for event in run.last:
            self._note(run, event)

    def settle(self) -> None:
        """Carry out follow-ups until none is left."""
        if self._held:
            return
        for _ in range(self.follow_ups_max):
            if not self.queue:
                return
            self._carry_out(self.queue.popleft())
        message = f"More than {self.follow_ups_max} follow-ups without a pause"
        raise Endless(message)

    def _carry_out(self, follow_up: FollowUp) -> None:
        if isinstance(follow_up, Send):
            self._send(follow_up)
        elif isinstance(follow_up, CallProcess):
            self._call(follow_up)
        elif isinstance(follow_up, PublishMessage):
            self._publish(
                follow_up.name,
                follow_up.correlation_key,
                follow_up.variables,
                follow_up.ttl_ms,
                follow_up.message_id,
            )
        elif isinstance(follow_up, BroadcastSignal):
            self._broadcast(follow_up.name, follow_up.variables)
        else:
            message = f"The core asked for {follow_up}"
            raise NotImplementedError(message)

    def _send(self, send: Send) -> None:
        """Give a command to an instance; what it has no use for any more is offered again or noted."""
        run = self.instances.get(send.instance)
        if run is None:
            self.rejected.append(f"There is no instance {send.instance}")
            return
        command = send.command
        try:
            self.step(run, command)
        except NotFound as refusal:
            self.rejected.append(str(refusal))
            again = self.messages.find(command.message) if isinstance(command, Correlate) else None
            if again is not None and again.expires > self.now:
                again.taken.discard(run.definition.process_id)
                self._offer(again)
        except Conflict as refusal:
            self.rejected.append(str(refusal))
            if isinstance(command, Correlate):
                self.messages.postpone(send)

    def _call(self, call: CallProcess) -> None:
        """Start the called process, or tell the caller that it is missing."""
        parent = self.instances[call.parent]
        node = parent.now_state.nodes.get(call.parent_element_instance)
        if node is None or node.called != call.instance:
            return
        try:
            definition = self._bound(call)
        except Rejected as error:
            missing = ChildEnded(call.parent_element_instance, call.instance, "missing", message=str(error))
            self._send(Send(call.parent, missing))
            return
        command = StartInstance(
            call.instance,
            call.variables,
            business_id=call.business_id,
            parent=call.parent,
            parent_element_instance=call.parent_element_instance,
            depth=call.depth,
        )
        self._begin(definition, command)

    def _bound(self, call: CallProcess) -> Definition:
        """The definition that a call activity's binding means now. Raises NotFound."""
        if call.binding == "deployment":
            found = self.deployments[call.parent_definition].get(call.process_id)
            matching = [found] if found is not None else []
        elif call.binding == "versionTag":
            versions = self.definitions.get(call.process_id, [])
            matching = [version for version in versions if version.version_tag == call.version_tag]
        elif call.binding == "version":
            versions = self.definitions.get(call.process_id, [])
            matching = [version for version in versions if version.version == call.version]
        else:
            return self.latest(call.process_id)
        if not matching:
            message = f"There is no process '{call.process_id}' for the binding {call.binding} {call.version_tag}"
            raise NotFound(message)
        return matching[-1]

    def _begin(self, definition: Definition, command: StartInstance) -> WorldRun:
        run = WorldRun(self, definition, command.instance)
        self.instances[command.instance] = run
        self.step(run, command)
        return run

    def _note(self, run: WorldRun, event: Event) -> None:
        """Keep subscriptions; a new one meets the messages that wait, an ended instance frees its start channel."""
        if isinstance(event, Subscribed):
            self.subscriptions[event.key] = (run.instance, event)
            self._meet(run, event)
        elif isinstance(event, WaitClosed):
            self.subscriptions.pop(event.key, None)
        elif isinstance(event, Resumed):
            self.queue.extend(self.messages.resumed(run.instance))
        elif isinstance(event, Ended):
            for message in self.messages.waiting(self.now):
                self._offer(message)

    # -- messages and signals ---------------------------------------------------------------------------------------
    def _meet(self, run: WorldRun, event: Subscribed) -> None:
        """A subscription opens: the oldest message that waits for it is correlated."""
        process_id = run.definition.process_id
        for message in self.messages.waiting(self.now):
            fits = message.channel == Channel(event.name, event.correlation_key) and process_id not in message.taken
            if event.trigger == Trigger.MESSAGE and fits:
                self._give(message, run.instance, event)
                if event.once:
                    return

    def _give(self, message: Message, instance: int, event: Subscribed) -> None:
        """Correlate: the subscription is taken and its instance told."""
        message.taken.add(self.instances[instance].definition.process_id)
        if event.once:
            self.subscriptions.pop(event.key, None)
        channel = message.channel
        command = Correlate(event.key, channel.name, message.variables, message.key, channel.key, message.expires)
        self.queue.append(Send(instance, command))

    def _offer(self, message: Message) -> int:
        """Offer a message to one instance per process, then to the start events of latest versions."""
        taker = 0
        for instance, event in list(self.subscriptions.values()):
            process_id = self.instances[instance].definition.process_id
            fits = Channel(event.name, event.correlation_key) == message.channel
            if event.trigger == Trigger.MESSAGE and fits and process_id not in message.taken:
                self._give(message, instance, event)
                taker = taker or instance
        for definition, element, _ in self._start_events(Trigger.MESSAGE, message.channel.name):
            taker = self._start_by_message(definition, element, message) or taker
        return taker

    def _start_by_message(self, definition: Definition, element: Element, message: Message) -> int:
        """Start an instance, unless the process took the message or one with this key is active."""
        process_id, key = definition.process_id, message.channel.key
        active = any(key and run.now_state.start_channel == key for run in self.runs(process_id))
        if process_id in message.taken or active:
            return 0
        message.taken.add(process_id)
        name = message.channel.name
        command = StartInstance(self.keys.take(), message.variables, start=element.id, start_channel=key, event=name)
        return self._begin(definition, command).instance

    def _broadcast(self, name: str, variables: dict[str, Any]) -> None:
        for instance, event in list(self.subscriptions.values()):
            if event.trigger == Trigger.SIGNAL and event.name == name:
                self.queue.append(Send(instance, Correlate(event.key, name, variables)))
        for definition, element, _ in self._start_events(Trigger.SIGNAL, name):
            self._begin(definition, StartInstance(self.keys.take(), variables, start=element.id, event=name))

    def _start_events(self, trigger: Trigger, name: str) -> list[tuple[Definition, Element, EventSpec]]:
        """The start events of latest versions that a message or signal of this name triggers."""
        return [
            (versions[-1], versions[-1].elements[index], event)
            for versions in self.definitions.values()
            for index in versions[-1].start_events
            for event in versions[-1].elements[index].events
            if event.trigger == trigger and event.name is not None and event.name.evaluate({}) == name
        ]

    # -- timers -----------------------------------------------------------------------------------------------------
    def _arm_start_timers(self, definition: Definition) -> None:
        """Arm a new version's timer start events; those of the version before are over."""
        self.start_timers = [
            timer for timer in self.start_timers if timer.definition.process_id != definition.process_id
        ]
        for index in definition.start_events:
            element = definition.elements[index]
            for event in element.events:
                if event.trigger == Trigger.TIMER and event.timer is not None:
                    self.start_timers.append(StartTimer(definition, element, self._first_due(event)))

    def _first_due(self, event: EventSpec) -> Due:
        value: object = event.timer.evaluate({}) if event.timer is not None else None
        if event.timer_kind == TimerKind.DATE:
            return date_due(value)
        return cycle_due(value, self.now) if event.timer_kind == TimerKind.CYCLE else duration_due(value, self.now)

    def _next_due(self) -> tuple[int, tuple[int, int] | StartTimer] | None:
        """The earliest timer: of an instance (its key and the timer's) or of a start event."""
        found: list[tuple[int, int, tuple[int, int] | StartTimer]] = [
            (wait.due, wait.key, (run.instance, wait.key))
            for run in self.instances.values()
            for _, wait in run.waits()
            if wait.due and run.now_state.status == 0
        ]
        found += [(timer.due.at, 0, timer) for timer in self.start_timers]
        if not found:
            return None
        due, _, what = min(found, key=lambda entry: entry[:2])
        return due, what

    def _fire(self, what: tuple[int, int] | StartTimer) -> None:
        if isinstance(what, tuple):
            self.step(self.instances[what[0]], FireTimer(what[1]))
            return
        due = what.due
        again = next_due(due.cycle, due.left, due.anchor, due.at, self.now) if due.cycle else None
        self.start_timers.remove(what)
        if again is not None:
            self.start_timers.append(StartTimer(what.definition, what.element, again))
        self._begin(what.definition, StartInstance(self.keys.take(), start=what.element.id))
