import assert from "node:assert/strict";
import { test } from "node:test";
import { byDocument, nameOf, type Trial, told } from "../src/experiments";

const START = { line: 0, character: 0 };
const RANGE = { start: START, end: START };
const trial = (uri: string, name: string): Trial => ({
	uri,
	range: RANGE,
	function: name,
	detail: "compiled",
	address: uri,
});

test("trials are listed by document, in their order", () => {
	const trials = [trial("file:///b.py", "one"), trial("file:///a.py", "two"), trial("file:///b.py", "three")];
	const listed = [...byDocument(trials)].map(([uri, found]) => [uri, ...found.map((each) => each.function)]);
	assert.deepEqual(listed, [
		["file:///b.py", "one", "three"],
		["file:///a.py", "two"],
	]);
	assert.equal(new Set(trials.map(nameOf)).size, 3);
});

test("what decided nothing says why", () => {
	const answer = { outcome: "skipped", findings: [] } as const;
	const step = trial("file:///a.py", "step");
	assert.equal(told(step, { ...answer, reasons: ["no call", "no GPU"] }), "step: no call; no GPU\r\n");
	assert.equal(told(step, { ...answer, reasons: [] }), "step: no experiment told anything\r\n");
});
