import assert from "node:assert/strict";
import { test } from "node:test";
import { Levels } from "../src/logLine";

test("a line has the level that it names, or that of the line above", () => {
	const levels = new Levels();
	const lines = [
		"Traceback (most recent call last):",
		"INFO nonstrict_server.roots: reading",
		"DEBUG nonstrict_server: received",
		"WARNING nonstrict.check: slow",
		"  more of it",
		"ERROR asyncio: failed",
		"  File x",
		"NOTE this: is text",
	];
	assert.deepEqual(
		lines.map((line) => levels.of(line)),
		["error", "info", "info", "warn", "warn", "error", "error", "error"],
	);
});
