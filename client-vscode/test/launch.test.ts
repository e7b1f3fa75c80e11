import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { checkCommand, type Program, serverCommand } from "../src/launch";

const bundled: Program = { kind: "interpreter", python: "/usr/bin/python3", strategy: "useBundled" };
const own: Program = { kind: "interpreter", python: "/venv/bin/python", strategy: "fromEnvironment" };
const launcher = join("/home", "bundled", "launch.py");

test("the server runs in the interpreter, with the nonstrict that the strategy says", () => {
	assert.deepEqual(serverCommand(bundled, "/home", true), {
		command: "/usr/bin/python3",
		args: [launcher, "bundled", "server", "--trusted-workspace"],
	});
	const args = [launcher, "environment", "server", "--trusted-workspace"];
	assert.deepEqual(serverCommand(own, "/home", true).args, args);
});

test("whether a workspace is trusted is said", () => {
	assert.equal(serverCommand(bundled, "/home", false).args.at(-1), "--untrusted-workspace");
	assert.ok(!serverCommand(bundled, "/home", true).args.includes("--untrusted-workspace"));
});

test("an executable of the user's is run as it is, with its first arguments", () => {
	const line = serverCommand({ kind: "executable", path: ["/opt/uv", "run", "nonstrict"] }, "/home", true);
	assert.deepEqual(line, { command: "/opt/uv", args: ["run", "nonstrict", "server", "--trusted-workspace"] });
});

test("the folder itself is checked when no path is given", () => {
	assert.deepEqual(checkCommand({ kind: "executable", path: ["nonstrict"] }, "/home", []), {
		command: "nonstrict",
		args: ["check", "--output-format", "concise", "--", "."],
	});
});

test("arguments come before the paths, and a path that looks like an option stays a path", () => {
	const line = checkCommand(own, "/home", ["--select", "NST1"], ["src", "--odd"]);
	assert.deepEqual(line.args.slice(-5), ["--select", "NST1", "--", "src", "--odd"]);
});
