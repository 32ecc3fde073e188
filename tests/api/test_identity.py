"""Who may use the server: people, tokens, tokens of an OpenID provider; roles, tenants, and the audit log of it all."""

from __future__ import annotations

import asyncio
import base64
import json
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import httpx
import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import rsa

from procession import Procession
from procession.api import events, tokens, web
from procession.api.identity import check_binding
from procession.api.oidc import Oidc
from procession.api.roles import Role
from procession.api.settings import OidcSettings, Settings
from procession.errors import Conflict, InvalidValue, Misconfigured, NotFound
from tests.api.conftest import PAYMENT, MakeServed, Served


@pytest.fixture
async def guarded(make_served: MakeServed) -> Served:
    """A server that wants to know who comes."""
    return await make_served(identity=True)


async def bearer(served: Served, *roles: str, tenants: list[str] | None = None, name: str = "") -> dict[str, str]:
    _, text = await tokens.create_token(served.app, name or "-".join(roles), list(roles), tenants=tenants)
    return {"Authorization": f"Bearer {text}"}


async def test_nobody_comes_in_without_a_name(guarded):
    answer = await guarded.post("/process-instances/search")
    assert (answer.status_code, answer.json()["title"]) == (401, "UNAUTHORIZED")
    assert "Basic" in answer.headers["www-authenticate"]
    for header in ("Bearer prc_nonsense", "Bearer x.y.z", "Basic !!", "Basic YTpi", "Digest x", "Bearer"):
        assert (await guarded.post("/jobs/search", headers={"Authorization": header})).status_code == 401
    assert (await guarded.get("/status")).status_code == 204
    assert (await guarded.client.get("/health")).status_code == 200
    assert (await guarded.client.get("/metrics")).status_code == 401


async def test_a_token_is_stored_as_a_digest_and_works_until_it_is_revoked(guarded, monkeypatch):
    monkeypatch.setattr(tokens, "REMEMBERED_S", 0.0)
    known, text = await tokens.create_token(guarded.app, "ci", ["reader"])
    (row,) = await guarded.app.rows.kept("token")
    assert text not in repr(row)
    assert known.roles == ["reader"]
    headers = {"Authorization": f"Bearer {text}"}
    me = await guarded.get("/authentication/me", headers=headers)
    assert (me.json()["username"], me.json()["roles"]) == ("ci", ["reader"])
    assert (await guarded.post("/jobs/search", headers=headers)).status_code == 200
    with pytest.raises(Conflict):
        await tokens.create_token(guarded.app, "ci", ["reader"])
    await tokens.revoke(guarded.app, "token", "ci")
    assert (await guarded.post("/jobs/search", headers=headers)).status_code == 401
    with pytest.raises(NotFound):
        await tokens.revoke(guarded.app, "token", "ci")


async def test_a_token_ends_with_its_time(make_served, url):
    now = [1_767_225_600_000]
    served = await make_served(Procession(url, clock=lambda: now[0]), identity=True)
    _, text = await tokens.create_token(served.app, "short", ["reader"], expires_ms=1_000)
    headers = {"Authorization": f"Bearer {text}"}
    now[0] += 1_001
    assert (await served.post("/jobs/search", headers=headers)).status_code == 401


async def test_what_a_token_is_made_of_is_looked_at(guarded):
    for name, roles in (("x", ["boss"]), ("", ["reader"]), ("x\0", ["reader"])):
        with pytest.raises(InvalidValue):
            await tokens.create_token(guarded.app, name, roles)


async def test_people_come_with_name_and_password(guarded):
    await tokens.create_user(guarded.app, "ada", "correct horse", ["operator"])
    assert (await guarded.post("/jobs/search", auth=("ada", "correct horse"))).status_code == 200
    for wrong in (("ada", "wrong"), ("bob", "correct horse"), ("", ""), ("ada\0", "x")):
        assert (await guarded.post("/jobs/search", auth=wrong)).status_code == 401
    (row,) = await guarded.app.rows.kept("user")
    assert b"correct horse" not in row.body


ALLOWED = {
    "reader": {"search"},
    "worker": {"work"},
    "operator": {"search", "start"},
    "deployer": {"search", "deploy"},
    "admin": {"search", "work", "start", "deploy", "audit"},
}


@pytest.mark.parametrize("role", ALLOWED)
async def test_a_role_may_do_what_it_is_for(guarded, role):
    await guarded.app.deploy(("payment.bpmn", PAYMENT))
    headers = await bearer(guarded, role)
    poll = {"type": "x", "timeout": 1, "maxJobsToActivate": 1, "requestTimeout": -1}
    answers = {
        "search": await guarded.post("/process-instances/search", headers=headers),
        "work": await guarded.post("/jobs/activation", poll, headers=headers),
        "start": await guarded.post("/process-instances", {"processDefinitionId": "payment"}, headers=headers),
        "deploy": await guarded.deploy(headers=headers),
        "audit": await guarded.post("/audit-logs/search", headers=headers),
    }
    assert {name for name, answer in answers.items() if answer.status_code == 200} == ALLOWED[role]
    assert {answer.status_code for answer in answers.values()} <= {200, 403}


async def test_every_role_is_one_that_somebody_has():
    assert {role.value for role in Role} == set(ALLOWED)


# -- tenants ----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("url", ["memory", "sqlite", "postgresql"], indirect=True)
async def test_what_is_anothers_is_not_there(guarded):
    acme = await bearer(guarded, "admin", tenants=["acme"], name="acme")
    rival = await bearer(guarded, "admin", tenants=["<default>", "rival"], name="rival")
    files = {"resources": ("payment.bpmn", PAYMENT)}
    mine = await guarded.client.post("/v2/deployments", files=files, data={"tenantId": "acme"}, headers=acme)
    assert mine.json()["tenantId"] == "acme"
    definition = mine.json()["deployments"][0]["processDefinition"]["processDefinitionKey"]
    start = {"processDefinitionId": "payment", "tenantId": "acme", "variables": {"secret": 1}}
    instance = (await guarded.post("/process-instances", start, headers=acme)).json()["processInstanceKey"]
    (job,) = await guarded.app.jobs(type="charge-card")

    assert (await guarded.post("/process-instances", start, headers=rival)).status_code == 403
    theirs = {"processDefinitionKey": definition}
    assert (await guarded.post("/process-instances", theirs, headers=rival)).status_code == 404
    poll = {"type": "charge-card", "timeout": 60_000, "maxJobsToActivate": 1, "requestTimeout": -1}
    assert (await guarded.post("/jobs/activation", poll, headers=rival)).json() == {"jobs": []}
    asked = {**poll, "tenantIds": ["acme"]}
    assert (await guarded.post("/jobs/activation", asked, headers=rival)).status_code == 403
    for method, path in (
        ("GET", f"/process-instances/{instance}"),
        ("GET", f"/process-instances/{instance}/sequence-flows"),
        ("POST", f"/process-instances/{instance}/cancellation"),
        ("POST", f"/process-instances/{instance}/incident-resolution"),
        ("GET", f"/process-definitions/{definition}"),
        ("GET", f"/process-definitions/{definition}/xml"),
        ("GET", f"/resources/{definition}"),
        ("POST", f"/resources/{definition}/deletion"),
        ("POST", f"/jobs/{job.job_key}/completion"),
        ("POST", f"/jobs/{job.job_key}/failure"),
        ("GET", f"/element-instances/{job.element_instance_key}"),
    ):
        answer = await guarded.client.request(method, f"/v2{path}", headers=rival)
        assert answer.status_code == 404, (path, answer.text)
        assert "acme" not in answer.text
    variables = {"variables": {"x": 1}}
    path = f"/v2/element-instances/{instance}/variables"
    assert (await guarded.client.put(path, json=variables, headers=rival)).status_code == 404
    for path in ("process-instances", "process-definitions", "jobs", "variables", "element-instances", "resources"):
        answer = (await guarded.post(f"/{path}/search", headers=rival)).json()
        assert (answer["items"], answer["page"]["totalItems"]) == ([], 0), path
    assert len((await guarded.post("/process-instances/search", headers=acme)).json()["items"]) == 1
    assigned = {**poll, "tenantFilter": "ASSIGNED"}
    (taken,) = (await guarded.post("/jobs/activation", assigned, headers=acme)).json()["jobs"]
    assert taken["tenantId"] == "acme"
    assert (await guarded.post(f"/jobs/{taken['jobKey']}/completion", headers=acme)).status_code == 204


# -- the audit log ----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("url", ["memory", "sqlite", "postgresql"], indirect=True)
async def test_every_change_is_written_down_with_who_and_what_it_was_before(guarded):
    admin = await bearer(guarded, "admin", name="ada")
    await guarded.deploy(headers=admin)
    start = {"processDefinitionId": "payment", "variables": {"card": "4111"}}
    key = (await guarded.post("/process-instances", start, headers=admin)).json()["processInstanceKey"]
    await guarded.post(f"/process-instances/{key}/cancellation", headers=admin)
    again = await guarded.post(f"/process-instances/{key}/suspension", headers=admin)
    assert again.status_code == 409
    found = (await guarded.post("/audit-logs/search", headers=admin)).json()["items"]
    assert [(each["operationType"], each["result"], each["actorId"]) for each in found] == [
        ("suspendProcessInstance", "FAIL", "ada"),
        ("cancelProcessInstance", "SUCCESS", "ada"),
        ("createProcessInstance", "SUCCESS", "ada"),
        ("createDeployment", "SUCCESS", "ada"),
    ]
    cancel = found[1]
    assert (cancel["before"]["state"], cancel["after"]["state"]) == ("ACTIVE", "TERMINATED")
    assert (cancel["processInstanceKey"], cancel["actorType"]) == (key, "token")
    assert found[2]["details"]["request"]["variables"] == ["card"]
    assert "4111" not in json.dumps(found)
    filters = {"filter": {"operationType": {"$like": "cancel*"}, "actorId": "ada"}}
    (one,) = (await guarded.post("/audit-logs/search", filters, headers=admin)).json()["items"]
    assert (await guarded.get(f"/audit-logs/{one['auditLogKey']}", headers=admin)).json() == one


async def test_whoever_is_bound_to_tenants_reads_what_was_done_in_them_and_nothing_else(guarded):
    admin = await bearer(guarded, "admin", name="everywhere")
    acme = await bearer(guarded, "admin", tenants=["acme"], name="of-acme")
    default = await bearer(guarded, "admin", tenants=["<default>"], name="of-default")
    both = await bearer(guarded, "admin", tenants=["acme", "beta"], name="of-both")
    for tenant in ("acme", "beta"):
        await guarded.app.for_tenant(tenant).deploy(("payment.bpmn", PAYMENT))
    keys = {}
    for tenant, who in (("acme", acme), ("beta", admin), ("acme", admin)):
        start = {"processDefinitionId": "payment", "tenantId": tenant, "variables": {"secret": tenant}}
        keys[tenant] = (await guarded.post("/process-instances", start, headers=who)).json()["processInstanceKey"]
        await guarded.post(f"/process-instances/{keys[tenant]}/suspension", headers=admin)
    await guarded.post("/process-instances/cancellation", {"filter": {"tenantId": "beta"}}, headers=admin)
    await guarded.post("/messages/publication", {"name": "paid", "correlationKey": "A-1"}, headers=admin)
    await guarded.client.post("/api/queues/mail/pause", headers=admin)  # of no tenant
    refused = await guarded.post(f"/process-instances/{keys['beta']}/resumption", headers=acme)
    assert refused.status_code == 404

    async def read(who: dict[str, str], **filter_) -> list[tuple[str, str | None]]:
        found = (await guarded.post("/audit-logs/search", {"filter": filter_}, headers=who)).json()["items"]
        return [(each["operationType"], each["tenantId"]) for each in found]

    assert await read(acme) == [
        ("resumeProcessInstance", "acme"),
        ("suspendProcessInstance", "acme"),
        ("createProcessInstance", "acme"),
        ("suspendProcessInstance", "acme"),
        ("createProcessInstance", "acme"),
    ]
    (refused,) = await _entries(guarded, acme, {"operationType": "resumeProcessInstance"})
    assert (refused["result"], refused["before"], refused["after"]) == ("FAIL", None, None)  # it is beta's
    assert await read(default) == [("publishMessage", "<default>")]
    assert len(await read(both)) == 8
    assert ("cancelProcessInstancesBatchOperation", "beta") in await read(both)
    assert len(await read(admin)) == 10
    assert await read(acme, tenantId="beta") == []
    assert await read(acme, actorId="everywhere", operationType={"$like": "create*"}) == [
        ("createProcessInstance", "acme")
    ]
    (theirs,) = await _entries(guarded, admin, {"tenantId": "beta", "operationType": "createProcessInstance"})
    assert (await guarded.get(f"/audit-logs/{theirs['auditLogKey']}", headers=acme)).status_code == 404
    assert (await guarded.get(f"/audit-logs/{theirs['auditLogKey']}", headers=both)).status_code == 200
    assert "beta" not in json.dumps(await _entries(guarded, acme, {}))
    assert (await guarded.post("/user-tasks/1/audit-logs/search", headers=acme)).json()["items"] == []


async def _entries(served: Served, who: dict[str, str], filter_: dict) -> list[dict]:
    return (await served.post("/audit-logs/search", {"filter": filter_}, headers=who)).json()["items"]


async def test_a_stream_ends_when_the_token_that_opened_it_is_revoked(guarded, monkeypatch):
    monkeypatch.setattr(tokens, "REMEMBERED_S", 0.0)
    monkeypatch.setattr(web, "REMEMBERED_S", 0.0)
    monkeypatch.setattr(events, "HEARTBEAT_S", 0.05)
    headers = await bearer(guarded, "reader", name="listener")
    async with asyncio.timeout(10), guarded.client.stream("GET", "/api/events", headers=headers) as answer:
        pieces = answer.aiter_lines()
        assert await anext(pieces) == ": listening"
        await tokens.revoke(guarded.app, "token", "listener")
        async for _ in pieces:
            pass


async def test_the_end_of_a_job_stands_in_the_audit_log_only_when_that_is_wanted(make_served):
    served = await make_served(audit_jobs=True)
    await served.deploy()
    await served.start()
    job = await served.take()
    await served.post(f"/jobs/{job['jobKey']}/completion")
    found = (await served.post("/audit-logs/search", {"filter": {"entityType": "JOB"}})).json()["items"]
    assert [each["operationType"] for each in found] == ["completeJob"]


# -- binding ----------------------------------------------------------------------------------------------------------
def test_without_identity_only_the_loopback_is_bound():
    for host in ("127.0.0.1", "::1", "localhost"):
        check_binding(Settings(identity=False, host=host))
    for host in ("0.0.0.0", "::", "192.168.1.7", "example.org"):
        with pytest.raises(Misconfigured, match="loopback"):
            check_binding(Settings(identity=False, host=host))
        check_binding(Settings(identity=True, host=host))


# -- OpenID -----------------------------------------------------------------------------------------------------------
class Provider:
    """An OpenID provider on the loopback, whose keys can be changed."""

    def __init__(self) -> None:
        self.keys = {"one": rsa.generate_private_key(public_exponent=65_537, key_size=2_048)}
        self.asked = 0
        provider = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                provider.asked += 1
                body = provider.answer(self.path)
                self.send_response(200 if body else 404)
                self.end_headers()
                self.wfile.write(json.dumps(body).encode())

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.issuer = f"http://127.0.0.1:{self.server.server_port}"
        self.thread = threading.Thread(target=self.server.serve_forever, daemon=True)
        self.thread.start()

    def answer(self, path: str) -> dict:
        if path.endswith("openid-configuration"):
            return {"issuer": self.issuer, "jwks_uri": f"{self.issuer}/keys"}
        keys = [
            {**json.loads(jwt.algorithms.RSAAlgorithm.to_jwk(key.public_key())), "kid": kid, "use": "sig"}
            for kid, key in self.keys.items()
        ]
        return {"keys": [*keys, {"kty": "oct", "kid": "shared", "k": "c2VjcmV0"}]}

    def token(self, kid: str = "one", *, key=None, algorithm: str = "RS256", **claims) -> str:
        now = int(time.time())
        body = {
            "iss": self.issuer,
            "aud": "procession",
            "sub": "s-1",
            "exp": now + 60,
            "preferred_username": "ada",
            "realm_access": {"roles": ["operator", "something-else"]},
            "tenants": ["<default>", "acme"],
            **claims,
        }
        signed = self.keys[kid] if key is None else key
        given = {name: value for name, value in body.items() if value is not None}
        return jwt.encode(given, signed, algorithm=algorithm, headers={"kid": kid})


@pytest.fixture
def provider() -> Iterator[Provider]:
    made = Provider()
    yield made
    made.server.shutdown()
    made.server.server_close()
    made.thread.join()


def settings_of(provider: Provider) -> OidcSettings:
    return OidcSettings(issuer=provider.issuer, audience="procession", roles_claim="realm_access.roles", leeway_s=0)


async def test_a_bearer_token_of_the_issuer_is_taken_with_its_roles_and_tenants(provider, make_served):
    served = await make_served(identity=True, oidc=settings_of(provider))
    headers = {"Authorization": f"Bearer {provider.token()}"}
    assert (await served.post("/process-instances/search", headers=headers)).status_code == 200
    assert (await served.deploy(headers=headers)).status_code == 403
    principal = await Oidc(settings_of(provider)).of_token(provider.token())
    assert principal is not None
    assert (principal.name, principal.roles, principal.tenants) == ("ada", {Role.OPERATOR}, {"", "acme"})


async def test_a_token_that_does_not_hold_in_every_respect_is_refused(provider):
    oidc = Oidc(settings_of(provider))
    assert await oidc.of_token(provider.token()) is not None
    stranger = rsa.generate_private_key(public_exponent=65_537, key_size=2_048)
    head = base64.urlsafe_b64encode(b'{"alg":"none","kid":"one"}').rstrip(b"=").decode()
    unsigned = f"{head}.{provider.token().split('.')[1]}."
    wrong = {
        "another issuer": provider.token(iss="https://example.org"),
        "another audience": provider.token(aud="shop"),
        "over": provider.token(exp=int(time.time()) - 1),
        "without an end": provider.token(exp=None),
        "not yet": provider.token(nbf=int(time.time()) + 600),
        "without a subject": provider.token(sub=None),
        "another's key": provider.token(key=stranger),
        "a shared secret": provider.token("shared", key="c2VjcmV0" * 8, algorithm="HS256"),
        "no signature": unsigned,
        "changed": provider.token()[:-4] + "AAAA",
        "nothing": "",
        "huge": "x" * 20_000,
    }
    for what, token in wrong.items():
        assert await oidc.of_token(token) is None, what


async def test_keys_rotate_and_an_unknown_key_does_not_make_the_issuer_be_asked_for_each_token(provider, monkeypatch):
    oidc = Oidc(settings_of(provider))
    assert await oidc.of_token(provider.token()) is not None
    asked = provider.asked
    stranger = rsa.generate_private_key(public_exponent=65_537, key_size=2_048)
    for _ in range(20):
        assert await oidc.of_token(provider.token("one", key=stranger)) is None
    provider.keys = {"two": rsa.generate_private_key(public_exponent=65_537, key_size=2_048)}
    assert await oidc.of_token(provider.token("two")) is None
    assert provider.asked == asked
    monkeypatch.setattr("procession.api.oidc.AGAIN_S", 0.0)
    assert await oidc.of_token(provider.token("two")) is not None


def test_an_issuer_that_others_can_read_along_is_refused():
    for issuer in ("http://example.org", "ftp://localhost", "file:///etc/passwd", ""):
        with pytest.raises(Misconfigured):
            Oidc(OidcSettings(issuer=issuer, audience="x"))


async def test_an_issuer_that_does_not_answer_is_no_reason_to_let_anybody_in(make_served):
    settings = OidcSettings(issuer="http://127.0.0.1:9", audience="x")
    served = await make_served(identity=True, oidc=settings)
    token = jwt.encode({"sub": "x"}, "k" * 32, algorithm="HS256")
    answer = await served.post("/jobs/search", headers={"Authorization": f"Bearer {token}"})
    assert answer.status_code == 503
    assert isinstance(answer, httpx.Response)


async def test_everybody_can_ask_what_they_may_do(guarded):
    async def allowed(*roles: str) -> dict[str, list[str]]:
        headers = await bearer(guarded, *roles)
        answer = (await guarded.post("/authentication/me/authorizations/search", headers=headers)).json()
        assert answer["authorizationsEnabled"] is True
        assert {each["ownerId"] for each in answer["items"]} == {"-".join(roles)}
        return {each["resourceType"]: each["permissionTypes"] for each in answer["items"]}

    assert await allowed("worker") == {"PROCESS_DEFINITION": ["UPDATE_PROCESS_INSTANCE"]}
    assert "CREATE_PROCESS_INSTANCE" not in (await allowed("reader"))["PROCESS_DEFINITION"]
    assert "CREATE_PROCESS_INSTANCE" in (await allowed("operator"))["PROCESS_DEFINITION"]
    assert (await allowed("admin"))["AUDIT_LOG"] == ["READ"]
    headers = await bearer(guarded, "deployer")
    body = {"filter": {"resourceType": "RESOURCE", "resourceIds": ["*"]}}
    (found,) = (await guarded.post("/authentication/me/authorizations/search", body, headers=headers)).json()["items"]
    assert found["permissionTypes"] == ["CREATE", "DELETE_FORM", "DELETE_PROCESS", "DELETE_RESOURCE", "READ"]
    assert (await guarded.post("/authentication/me/authorizations/search")).status_code == 401


async def test_a_document_is_of_the_tenants_of_whoever_keeps_it(guarded):
    admin = await bearer(guarded, "operator", name="everywhere")
    acme = await bearer(guarded, "operator", tenants=["acme"], name="of-acme")
    beta = await bearer(guarded, "operator", tenants=["beta"], name="of-beta")
    url = f"{guarded.server.url}/v2/documents"
    kept = await guarded.client.post(url, headers=acme, files={"file": ("offer.txt", b"secret", "text/plain")})
    address = f"{url}/{kept.json()['documentId']}"
    assert (await guarded.client.get(address, headers=beta)).status_code == 404
    assert (await guarded.client.post(f"{address}/links", headers=beta)).status_code == 404
    assert (await guarded.client.delete(address, headers=beta)).status_code == 404
    assert [(await guarded.client.get(address, headers=who)).content for who in (acme, admin)] == [b"secret"] * 2
    link = (await guarded.client.post(f"{address}/links", headers=acme)).json()["url"]
    assert (await guarded.client.get(link)).content == b"secret"
    everybodys = await guarded.client.post(url, headers=admin, files={"file": ("plan.txt", b"plan", "text/plain")})
    assert (await guarded.client.get(f"{url}/{everybodys.json()['documentId']}", headers=acme)).status_code == 404
