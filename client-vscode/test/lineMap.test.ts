import assert from "node:assert/strict";
import { test } from "node:test";
import { LineMap } from "../src/lineMap";

const [MODEL, HELPER] = ["file:///model.py", "file:///helper.py"];
const map = new LineMap([
	{ line: 4, uri: MODEL, row: 10 },
	{ line: 5, uri: MODEL, row: 10 },
	{ line: 5, uri: HELPER, row: 2 },
	{ line: 9, uri: MODEL, row: 20 },
]);

test("a row leads to its lines, a line to its rows", () => {
	assert.deepEqual(map.linesOf(MODEL, 10), [4, 5]);
	assert.deepEqual(map.linesOf(HELPER, 2), [5]);
	assert.deepEqual(map.linesOf(HELPER, 10), []);
	assert.deepEqual(
		map.sourcesOf(5).map(({ uri, row }) => [uri, row]),
		[
			[MODEL, 10],
			[HELPER, 2],
		],
	);
	assert.deepEqual(map.sourcesOf(0), []);
});

test("rows below an edit move, in that document only", () => {
	const longer = map.edited(MODEL, { first: 12, last: 12, now: 3 });
	assert.deepEqual(longer.linesOf(MODEL, 10), [4, 5]);
	assert.deepEqual(longer.linesOf(MODEL, 22), [9]);
	assert.deepEqual(longer.linesOf(HELPER, 2), [5]);
	const shorter = map.edited(MODEL, { first: 0, last: 4, now: 1 });
	assert.deepEqual(shorter.linesOf(MODEL, 6), [4, 5]);
});

test("a row that is typed in keeps its lines, rows that are replaced lose them", () => {
	assert.deepEqual(map.edited(MODEL, { first: 10, last: 10, now: 1 }).linesOf(MODEL, 10), [4, 5]);
	const replaced = map.edited(MODEL, { first: 9, last: 11, now: 3 });
	assert.deepEqual(replaced.linesOf(MODEL, 10), []);
	assert.deepEqual(replaced.linesOf(MODEL, 20), [9]);
});
