"""lint and deploy: every problem of every file with its place, and nothing stored unless all of it is sound."""

from __future__ import annotations

import pytest

from procession.testing.bpmn import process

GOOD = process("good").start().end()
# a service task without a type, and a flow that leads nowhere
BAD = (
    GOOD.xml()
    .replace(b'id="good"', b'id="bad"')
    .replace(
        b"</bpmn:process>",
        b'<bpmn:serviceTask id="lost" /><bpmn:sequenceFlow id="f" sourceRef="lost" targetRef="no" /></bpmn:process>',
    )
)


@pytest.fixture
def models(shop):
    shop.write("good.bpmn", GOOD)
    shop.write("bad.bpmn", BAD)
    shop.write("worse.bpmn", "<not a model")


def test_lint_tells_file_line_element_code_and_what_to_do(models, command):
    answer = command("lint", "good.bpmn", "bad.bpmn", "worse.bpmn")
    assert answer.code == 1
    assert "bad.bpmn\n" in answer.out
    assert "worse.bpmn\n" in answer.out
    assert "good.bpmn" not in answer.out
    line = next(line for line in answer.out.splitlines() if "✗ error" in line and "lost" in line)
    assert "line " in line
    assert "→ " in answer.out
    assert answer.out.splitlines()[-1].startswith("3 files: ")


def test_lint_of_a_folder_takes_every_model_in_it(models, command):
    assert {finding["file"] for finding in command("lint", ".", "--json").json} == {"bad.bpmn", "worse.bpmn"}


@pytest.mark.parametrize("command_name", ["lint", "deploy"])
def test_models_of_installed_packages_are_nobodys_own(shop, command, command_name):
    for folder in ("venv/lib/site-packages/other", ".hidden", "node_modules/viewer", "lib/site-packages"):
        (shop.folder / folder).mkdir(parents=True)
        shop.write(f"{folder}/bad.bpmn", BAD)
    (shop.folder / "venv/models").mkdir()
    shop.write("venv/pyvenv.cfg", "home = /usr/bin")
    shop.write("venv/models/bad.bpmn", BAD)
    (shop.folder / "models").mkdir()
    shop.write("models/good.bpmn", GOOD)
    assert command(command_name, ".").code == 0
    if command_name == "deploy":
        assert [row["processDefinitionId"] for row in command("definitions", "--json").json] == ["good"]
    assert command(command_name, ".hidden").code == 1  # what is named is meant


def test_lint_as_json_has_every_part_of_a_finding(models, command):
    answer = command("lint", "bad.bpmn", "--format", "json")
    assert answer.code == 1
    finding = next(finding for finding in answer.json if finding["elementId"] == "lost")
    assert set(finding) == {"file", "severity", "code", "message", "elementId", "line", "column", "suggestion"}
    assert finding["line"] > 1


def test_lint_for_github_writes_annotations(models, command):
    lines = command("lint", "bad.bpmn", "--format", "github").out.splitlines()
    assert lines
    assert all(line.startswith(("::error file=bad.bpmn,line=", "::warning file=", "::notice file=")) for line in lines)


def test_lint_of_sound_files_ends_with_0(models, command):
    assert command("lint", "good.bpmn").code == 0


def test_a_missing_file_is_named(shop, command):
    for verb in ("lint", "deploy"):
        answer = command(verb, "nowhere.bpmn")
        assert answer.code == 1
        assert "'nowhere.bpmn'" in answer.err


def test_deploy_tells_what_is_new_and_what_has_not_changed(models, command):
    first = command("deploy", "good.bpmn", "--json").json
    assert [(row["processDefinitionId"], row["version"], row["created"]) for row in first] == [("good", 1, True)]
    assert "unchanged" in command("deploy", "good.bpmn").out
    assert command("definitions", "--json").json[0]["version"] == 1


def test_deploy_stores_nothing_if_one_file_is_wrong_and_tells_all_problems(models, command):
    answer = command("deploy", "good.bpmn", "bad.bpmn", "worse.bpmn")
    assert answer.code == 1
    assert answer.out == ""
    for text in ("bad.bpmn", "lost", "worse.bpmn", "nothing was deployed"):
        assert text in answer.err
    command("db", "migrate")
    assert command("definitions", "--json").json == []


def test_deploy_as_json_tells_all_problems_as_json(models, command):
    answer = command("deploy", "bad.bpmn", "worse.bpmn", "--json")
    assert answer.code == 1
    assert {problem["file"] for problem in answer.error["problems"]} == {"bad.bpmn", "worse.bpmn"}


def test_deploy_with_an_application_binds_its_methods_and_takes_its_database(order, shop, command, monkeypatch):
    monkeypatch.delenv("PROCESSION_URL")
    shop.write("shop.py", (shop.folder / "shop.py").read_text().replace("shop.db", "own.db"))
    (row,) = command("deploy", order, "--app", "shop:app", "--json").json
    assert row["methods"] == ["price"]
    assert (shop.folder / "own.db").exists()


def test_the_file_of_a_version_comes_back_byte_for_byte(models, shop, command):
    (row,) = command("deploy", "good.bpmn", "--json").json
    shown = command("definitions", "--xml", row["processDefinitionKey"])
    assert shown.out.encode() == (shop.folder / "good.bpmn").read_bytes()
