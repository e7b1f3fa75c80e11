// Holds package.json against itself and against lines as `nonstrict check --output-format concise` prints them.
import assert from "node:assert/strict";
import { test } from "node:test";
import manifest from "../package.json";

const matcher = manifest.contributes.problemMatchers[0];
assert.ok(matcher);
const pattern = matcher.pattern;

function matched(line: string): string[] | undefined {
	return new RegExp(pattern.regexp).exec(line)?.slice(1);
}

test("the problem matcher reads a finding", () => {
	const line = "src/model.py:12:5: error[NST101] `mask` is a tensor captured from a module global";
	const message = "`mask` is a tensor captured from a module global";
	assert.deepEqual(matched(line), ["src/model.py", "12", "5", "error", "NST101", message]);
});

test("the problem matcher reads a path with a drive letter", () => {
	assert.equal(matched("C:\\work\\model.py:3:1: warning[NST201] prints")?.[0], "C:\\work\\model.py");
});

test("the problem matcher leaves the summary alone", () => {
	assert.equal(matched("Found 3 findings (1 error, 2 warnings) in 12 files."), undefined);
});

test("every group of the pattern is used once", () => {
	const { regexp, ...groups } = pattern;
	const used = Object.values(groups).sort((left, right) => left - right);
	assert.equal(new RegExp(`${regexp}|`).exec("")?.length, used.length + 1);
	assert.deepEqual(
		used,
		used.map((_, index) => index + 1),
	);
});

test("tasks and settings carry the extension's name", () => {
	assert.deepEqual(
		manifest.contributes.taskDefinitions.map((definition) => definition.type),
		["nonstrict"],
	);
	for (const setting of Object.keys(manifest.contributes.configuration.properties)) {
		assert.match(setting, /^nonstrict\./);
	}
});
