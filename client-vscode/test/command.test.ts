import assert from "node:assert/strict";
import { test } from "node:test";
import { checkCommand } from "../src/command";

test("the folder itself is checked when no path is given", () => {
	assert.deepEqual(checkCommand({ path: "nonstrict", args: [] }), {
		command: "nonstrict",
		args: ["check", "--output-format", "concise", "--", "."],
	});
});

test("arguments come before the paths, and a path that looks like an option stays a path", () => {
	const line = checkCommand({ path: "/opt/tools/nonstrict", args: ["--select", "NST1"] }, ["src", "--odd"]);
	assert.equal(line.command, "/opt/tools/nonstrict");
	assert.deepEqual(line.args.slice(3), ["--select", "NST1", "--", "src", "--odd"]);
});

test("an empty setting falls back to the command on the PATH", () => {
	assert.equal(checkCommand({ path: "  ", args: [] }).command, "nonstrict");
});
