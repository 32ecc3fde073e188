"""A program of either version: ``python program.py URL NAME``. What it imports is on its PYTHONPATH.

It works, starts instances of its own while it lives, and writes which jobs it has run. Only what both versions have
is used.
"""

from __future__ import annotations

import asyncio
import signal
import sys

from procession import Procession

MODEL = b"""<?xml version="1.0" encoding="UTF-8"?>
<bpmn:definitions xmlns:bpmn="http://www.omg.org/spec/BPMN/20100524/MODEL"
                  xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"
                  xmlns:zeebe="http://camunda.org/schema/zeebe/1.0" id="d" targetNamespace="http://procession.example">
  <bpmn:process id="order" isExecutable="true">
    <bpmn:startEvent id="start"/>
    <bpmn:serviceTask id="pack"><bpmn:extensionElements>
      <zeebe:taskDefinition type="pack"/></bpmn:extensionElements></bpmn:serviceTask>
    <bpmn:intermediateCatchEvent id="moment"><bpmn:timerEventDefinition>
      <bpmn:timeDuration xsi:type="bpmn:tFormalExpression">PT0.2S</bpmn:timeDuration></bpmn:timerEventDefinition>
    </bpmn:intermediateCatchEvent>
    <bpmn:serviceTask id="ship"><bpmn:extensionElements>
      <zeebe:taskDefinition type="ship"/></bpmn:extensionElements></bpmn:serviceTask>
    <bpmn:endEvent id="end"/>
    <bpmn:sequenceFlow id="a" sourceRef="start" targetRef="pack"/>
    <bpmn:sequenceFlow id="b" sourceRef="pack" targetRef="moment"/>
    <bpmn:sequenceFlow id="c" sourceRef="moment" targetRef="ship"/>
    <bpmn:sequenceFlow id="e" sourceRef="ship" targetRef="end"/>
  </bpmn:process>
</bpmn:definitions>
"""
PAUSE_S = 0.02


def say(*words: object) -> None:
    """A line for whoever started this program."""
    sys.stdout.write(" ".join(map(str, words)) + "\n")
    sys.stdout.flush()


def application(url: str, name: str) -> Procession:
    """Handlers that say who they are."""
    app = Procession(url, name=name)

    @app.job("pack")
    async def pack() -> dict:
        await asyncio.sleep(PAUSE_S)
        say("ran", "pack")
        return {f"packed_by_{name}": True}

    @app.job("ship")
    async def ship() -> dict:
        await asyncio.sleep(PAUSE_S)
        say("ran", "ship")
        return {f"shipped_by_{name}": True}

    return app


async def main(url: str, name: str) -> None:
    """Work and start until told to stop."""
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    app = application(url, name)
    await app.open()
    await app.deploy(("order.bpmn", MODEL))
    say("ready")
    while not stop.is_set():
        say("started", await app.start("order", {"by": name}))
        await asyncio.sleep(PAUSE_S)
    await app.close()
    say("stopped")


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
