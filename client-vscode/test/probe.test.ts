// Asks real programs: scripts that answer as old, broken and foreign ones do.
import assert from "node:assert/strict";
import { chmodSync, mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { ask, askExecutable, judged, onPath } from "../src/probe";
import { brokenInterpreter, oldInterpreter } from "../src/problems";

const folder = mkdtempSync(join(tmpdir(), "nonstrict-"));

function program(name: string, script: string): string {
	const path = join(folder, name);
	writeFileSync(path, `#!/bin/sh\n${script}\n`);
	chmodSync(path, 0o755);
	return path;
}

test("versions are compared as numbers", () => {
	assert.deepEqual(judged("3.10.0"), { kind: "fine", version: "3.10.0" });
	assert.deepEqual(judged("3.9.18\n"), { kind: "old", version: "3.9.18" });
	assert.deepEqual(judged("2.7.18"), { kind: "old", version: "2.7.18" });
	assert.deepEqual(judged("4.0.0"), { kind: "fine", version: "4.0.0" });
	assert.equal(judged("Python").kind, "broken");
});

test("a real Python is fine", async () => {
	const python = onPath(["python3", "python"]);
	assert.ok(python);
	assert.equal((await ask(python)).kind, "fine");
});

test("an old Python is named with its version and where it was chosen", async () => {
	const python = program("old", "printf 3.8.20");
	const answer = await ask(python);
	assert.deepEqual(answer, { kind: "old", version: "3.8.20" });
	const { message, actions } = oldInterpreter({ python, source: "python" }, "3.8.20");
	assert.match(message, /needs Python 3\.10 or newer/);
	assert.ok(message.includes(python) && message.includes("3.8.20") && message.includes("Python extension"));
	assert.deepEqual(actions, ["interpreter", "settings"]);
});

test("what is no Python is told with the reason", async () => {
	const missing = await ask(join(folder, "missing"));
	assert.deepEqual(missing, { kind: "broken", reason: "there is no such program" });
	assert.deepEqual(await ask(program("fails", "exit 3")), { kind: "broken", reason: "it ended with status 3" });
	const { message, actions } = brokenInterpreter({ python: "/x", source: "setting" }, "it may not be run");
	assert.match(message, /cannot run \/x, the Python named in the setting/);
	assert.deepEqual(actions, ["settings"]);
});

test("an executable must answer as nonstrict does", async () => {
	assert.equal(await askExecutable([program("good", 'test "$1" = version && echo nonstrict 0.1.0')]), undefined);
	assert.equal(await askExecutable([program("other", "echo hello")]), "it does not answer as nonstrict does");
	assert.equal(await askExecutable([join(folder, "missing")]), "there is no such program");
});

test("the PATH is searched name by name, for programs only", () => {
	const [first, second] = [join(folder, "one"), join(folder, "two")];
	mkdirSync(join(first, "python3"), { recursive: true });
	mkdirSync(second);
	const python = program("two/python", "true");
	writeFileSync(join(first, "python"), "not a program");
	const path = `${first}:${second}:relative`;
	assert.equal(onPath(["python3", "python"], { PATH: path }), python);
	assert.equal(onPath(["python3"], { PATH: path }), undefined);
});
