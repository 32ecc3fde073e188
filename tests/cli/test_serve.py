"""serve, tokens, users: a real process that serves until it is told to stop, and who may use it."""

from __future__ import annotations

import signal

import grpc
import httpx
from pyzeebe.proto.gateway_pb2 import TopologyRequest
from pyzeebe.proto.gateway_pb2_grpc import GatewayStub


def address(serving) -> str:
    serving.wait_for('"event":"serving"')
    return next(event["url"] for event in serving.events() if event["event"] == "serving")


def test_it_serves_until_it_is_told_to_stop(shop, run_process):
    serving = run_process("serve", "--no-identity", "--port", "0", "--json", "--url", shop.url)
    url = address(serving)
    assert httpx.get(f"{url}/health").json() == {"status": "UP"}
    assert httpx.get(f"{url}/ready").status_code == 200
    assert httpx.get(f"{url}/v2/topology").json()["clusterSize"] == 1
    assert httpx.put(f"{url}/v2/clock", json={"timestamp": 1}).status_code == 501
    serving.signal(signal.SIGTERM)
    assert serving.ended() == 0
    assert [event["event"] for event in serving.events()] == ["serving", "stopping", "stopped"]


def test_a_waiting_worker_does_not_hold_up_the_stop(shop, run_process):
    serving = run_process("serve", "--no-identity", "--port", "0", "--json", "--url", shop.url)
    url = address(serving)
    poll = {"type": "x", "timeout": 1_000, "maxJobsToActivate": 1, "requestTimeout": 1}
    assert httpx.post(f"{url}/v2/jobs/activation", json=poll).json() == {"jobs": []}
    serving.signal(signal.SIGINT)
    assert serving.ended() == 0


def test_a_token_opens_the_door_and_is_shown_once(command, shop, run_process):
    made = command("tokens", "create", "ci", "--role", "reader", "--expires", "90d", "--json").json
    assert made["token"].startswith("prc_")
    listed = command("tokens", "list", "--json")
    assert made["token"] not in listed.out
    assert [(each["name"], each["roles"]) for each in listed.json] == [("ci", ["reader"])]
    assert "ci" in command("tokens", "list").out
    serving = run_process("serve", "--port", "0", "--json", "--url", shop.url)
    url = address(serving)
    search = f"{url}/v2/process-instances/search"
    assert httpx.post(search, json={}).status_code == 401
    headers = {"Authorization": f"Bearer {made['token']}"}
    assert httpx.post(search, json={}, headers=headers).status_code == 200
    serving.signal(signal.SIGTERM)
    assert serving.ended() == 0
    assert command("tokens", "revoke", "ci").code == 0
    assert command("tokens", "revoke", "ci", "--json").error["type"] == "NotFound"
    assert command("tokens", "list", "--json").json == []


def test_people_are_let_in_and_out(command, monkeypatch):
    monkeypatch.setenv("PROCESSION_PASSWORD", "correct horse")
    assert command("users", "create", "ada", "--role", "operator", "--tenant", "acme").code == 0
    assert "correct" not in command("users", "list").out
    assert command("users", "list", "--json").json[0]["tenants"] == ["acme"]
    assert command("users", "create", "ada", "--role", "operator", "--json").error["type"] == "Conflict"
    assert command("users", "delete", "ada").code == 0


def test_without_identity_it_binds_nothing_but_the_loopback(command):
    refused = command("serve", "--no-identity", "--host", "0.0.0.0", "--json")
    assert refused.code == 1
    assert "loopback" in refused.error["message"]


def test_the_zeebe_gateway_stands_beside_it(shop, run_process):
    where = ("--no-identity", "--port", "0", "--grpc-address", "127.0.0.1:0")
    serving = run_process("serve", *where, "--json", "--url", shop.url)
    address(serving)
    gateway = next(event["grpc"] for event in serving.events() if event["event"] == "serving")
    with grpc.insecure_channel(gateway) as channel:
        answer = GatewayStub(channel).Topology(TopologyRequest(), timeout=20, wait_for_ready=True)
    assert answer.clusterSize == 1
    serving.signal(signal.SIGTERM)
    assert serving.ended() == 0


def test_a_gateway_that_cannot_be(command, tmp_path):
    for options, words in (
        (("--grpc-address", "nowhere"), "HOST:PORT"),
        (("--grpc-address", "127.0.0.1:99999"), "HOST:PORT"),
        (("--grpc", "--grpc-key", str(tmp_path / "key.pem")), "together"),
        (("--grpc", "--grpc-key", str(tmp_path / "x"), "--grpc-certificate", str(tmp_path / "y")), "cannot be read"),
        (("--grpc-address", "0.0.0.0:0"), "loopback"),
    ):
        refused = command("serve", "--no-identity", "--port", "0", *options, "--json")
        assert refused.code == 1
        assert words in refused.error["message"]


def test_options_that_cannot_work_are_refused(command):
    assert command("serve", "--oidc-issuer", "https://id.example").code == 1
    assert command("serve", "--oidc-issuer", "http://id.example", "--oidc-audience", "x", "--port", "0").code == 1
    assert command("serve", "--database-max", "much", "--port", "0").code == 1
    assert command("serve", "shop:app", "--test-clock", "--no-identity").code == 1
    assert command("tokens", "create", "x", "--role", "boss", "--json").error["type"] == "InvalidValue"


def test_the_clock_can_be_set_in_test_mode(shop, run_process):
    serving = run_process("serve", "--no-identity", "--port", "0", "--json", "--test-clock", "--url", shop.url)
    url = address(serving)
    instant = 4_102_444_800_000
    assert httpx.put(f"{url}/v2/clock", json={"timestamp": instant}).status_code == 204
    said = httpx.post(f"{url}/v2/expression/evaluation", json={"expression": "=now()"}).json()["result"]
    assert said.startswith("2100-01-01")
    assert httpx.post(f"{url}/v2/clock/reset").status_code == 204
    serving.signal(signal.SIGTERM)
    assert serving.ended() == 0


def test_the_audit_log_is_shown_and_searched(command, shop, run_process):
    serving = run_process("serve", "--no-identity", "--port", "0", "--json", "--audit-keep", "30d", "--url", shop.url)
    url = address(serving)
    assert "no such entry" in command("audit").err
    for key in (71, 72):
        assert httpx.post(f"{url}/v2/process-instances/{key}/cancellation", json={}).status_code == 404
    assert httpx.post(f"{url}/v2/signals/broadcast", json={"signalName": "dawn"}).status_code == 200
    found = command("audit", "--json").json
    assert [each["operationType"] for each in found] == ["broadcastSignal", *["cancelProcessInstance"] * 2]
    (only,) = command("audit", "--instance", "71", "--failed", "--actor", "local", "--since", "1h", "--json").json
    assert (only["entityKey"], only["result"], only["processInstanceKey"]) == ("71", "FAIL", "71")
    assert len(command("audit", "--text", "dawn", "--entity", "signal", "--json").json) == 1
    assert command("audit", "--operation", "nothing", "--json").json == []
    assert "broadcastSignal" in command("audit", "--limit", "1").out
    assert command("audit", "--since", "soon", "--json").code == 1
    serving.signal(signal.SIGTERM)
    assert serving.ended() == 0


def test_traces_need_the_sdk_of_opentelemetry_and_an_exporter_that_is_there(command, monkeypatch):
    monkeypatch.setenv("OTEL_TRACES_EXPORTER", "nowhere")
    refused = command("serve", "--no-identity", "--port", "0", "--trace", "--json")
    assert refused.code == 1
    assert "opentelemetry" in refused.error["message"]
