import assert from "node:assert/strict";
import { test } from "node:test";
import { Crashes } from "../src/crashes";
import { firstPath, resolvePath } from "../src/settings";

test("paths may be written with a variable, the home directory, or relative to the folder", () => {
	assert.equal(
		resolvePath(["$", "{workspaceFolder}/.venv/bin/python"].join(""), "/project", "/home/me"),
		"/project/.venv/bin/python",
	);
	assert.equal(resolvePath("~/env/bin/python", "/project", "/home/me"), "/home/me/env/bin/python");
	assert.equal(resolvePath(["$", "{userHome}/p"].join(""), "/project", "/home/me"), "/home/me/p");
	assert.equal(resolvePath(".venv/bin/python", "/project", "/home/me"), "/project/.venv/bin/python");
	assert.equal(resolvePath("/opt/python", "/project", "/home/me"), "/opt/python");
});

test("a name is left to the PATH", () => {
	assert.equal(resolvePath("python3.12", "/project", "/home/me"), "python3.12");
});

test("blank entries are none", () => {
	assert.equal(firstPath(["  ", "/p"], "/project"), "/p");
	assert.equal(firstPath([""], "/project"), undefined);
});

test("a server that ends five times within three minutes is left alone", () => {
	const crashes = new Crashes();
	assert.deepEqual(
		[0, 1, 2, 3].map((second) => crashes.another(second * 1000)),
		[true, true, true, true],
	);
	assert.equal(crashes.another(4000), false);
	assert.equal(crashes.count, 5);
	assert.equal(crashes.another(10 * 60 * 1000), true);
});
