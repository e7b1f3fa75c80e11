import assert from "node:assert/strict";
import { test } from "node:test";
import { Text } from "@codemirror/state";
import { offsetOf, rangeOf } from "../src/positions";

const TEXT = Text.of(["a🙂b", "", "äöü"]);

test("columns count code points, offsets units", () => {
	assert.deepEqual(
		[1, 2, 3, 4, 9].map((column) => offsetOf(TEXT, { row: 1, column })),
		[0, 1, 3, 4, 4],
	);
	assert.equal(offsetOf(TEXT, { row: 3, column: 2 }), 7);
});

test("rows outside the text are its ends", () => {
	assert.equal(offsetOf(TEXT, { row: 0, column: 1 }), 0);
	assert.equal(offsetOf(TEXT, { row: 4, column: 1 }), TEXT.length);
});

test("a range never ends before it begins", () => {
	const place = { location: { row: 3, column: 3 }, end_location: { row: 1, column: 1 } };
	assert.deepEqual(rangeOf(TEXT, place), { from: 8, to: 8 });
});
