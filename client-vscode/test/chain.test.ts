import assert from "node:assert/strict";
import { test } from "node:test";
import { type Chain, type Kind, layout, type Step, shortened, wrapped } from "../src/chain";
import { chainPage, escaped, picture } from "../src/chainPage";

function step(kind: Kind, text: string, row = 0): Step {
	const at = { line: row, character: 0 };
	return {
		kind,
		text,
		code: `return ${text}`,
		name: "model.py",
		uri: "file:///model.py",
		range: { start: at, end: at },
	};
}

function chain(...steps: Step[]): Chain {
	return {
		code: "NST101",
		name: "global-tensor-capture",
		function: "f",
		severity: "error",
		verdict: "confirmed",
		steps,
	};
}

const STEPS = [
	step("region", "one region", 3),
	step("entry", "calls"),
	step("region", "another region"),
	step("entry", "calls too"),
	step("entry", "calls again"),
	step("marker", "is marked"),
	step("call", "calls"),
	step("effect", "reads"),
	step("evidence", "rebound"),
	step("evidence", "rebound again"),
];

test("boxes go from top to bottom and do not overlap", () => {
	const { boxes, width, height } = layout(STEPS);
	assert.deepEqual(
		boxes.map((box) => box.step),
		[0, 2, 1, 3, 4, 5, 6, 7, 8, 9],
	);
	for (const [index, box] of boxes.entries()) {
		assert.ok(box.x >= 0 && box.y >= 0 && box.x + box.width <= width && box.y + box.height <= height);
		for (const other of boxes.slice(index + 1)) {
			const beside = other.x >= box.x + box.width || box.x >= other.x + other.width;
			assert.ok(beside || other.y >= box.y + box.height, `${index} overlaps ${other.step}`);
		}
	}
});

test("every region leads to its calls and these to the marker, the way goes on to what happens, and from there to all evidence", () => {
	const arrows = layout(STEPS).arrows.map(({ from, to }) => [from.step, to.step]);
	assert.deepEqual(arrows, [
		[0, 1],
		[1, 5],
		[2, 3],
		[3, 5],
		[2, 4],
		[4, 5],
		[5, 6],
		[6, 7],
		[7, 8],
		[7, 9],
	]);
});

test("a chain of one place has no arrows", () => {
	const { arrows, boxes } = layout([step("effect", "reads")]);
	assert.equal(boxes.length, 1);
	assert.deepEqual(arrows, []);
});

test("texts are wrapped at blanks and cut at the end", () => {
	assert.deepEqual(wrapped("one two three", 7, 4), ["one two", "three"]);
	assert.deepEqual(wrapped("", 7, 4), [""]);
	const cut = wrapped("a b c d e f", 1, 3);
	assert.equal(cut.length, 3);
	assert.ok(cut.at(-1)?.endsWith("…"));
	assert.equal(shortened("abcdef", 4), "abc…");
	assert.ok(wrapped("x".repeat(100), 20, 2).every((line) => line.length <= 20));
});

test("nothing of the user's code becomes markup", () => {
	const evil = step("effect", `<script>alert("1")</script> & 'x'`);
	const page = chainPage(chain(evil), "abc");
	assert.equal(page.match(/<script/g)?.length, 1);
	assert.ok(!page.includes('alert("1")'));
	assert.equal(escaped(`<&>"'`), "&#60;&#38;&#62;&#34;&#39;");
});

test("the page allows its own style and script only, and loads nothing", () => {
	const page = chainPage(chain(...STEPS), "0123abcd");
	const policy = /Content-Security-Policy" content="([^"]+)"/.exec(page)?.[1];
	assert.equal(policy, "default-src 'none'; style-src 'nonce-0123abcd'; script-src 'nonce-0123abcd'");
	assert.equal(page.match(/nonce="0123abcd"/g)?.length, 2);
	assert.doesNotMatch(page, /https?:|\ssrc=|\shref=|\sstyle=|\son\w+=/);
	assert.ok(!/#[0-9a-f]{3,6}\b(?!;)/i.test(/<style[^>]*>([^<]*)/.exec(page)?.[1] ?? "#fff"), "colours are the theme's");
});

test("every place can be reached by the keyboard, and is told to screen readers with its place", () => {
	const drawn = picture(chain(...STEPS), "title");
	const nodes = drawn.match(/<g class="node[^>]*>/g) ?? [];
	assert.equal(nodes.length, STEPS.length);
	assert.ok(nodes.every((node) => node.includes('role="button"') && node.includes('tabindex="0"')));
	assert.match(nodes[0] ?? "", /aria-label="Step 1 of 10, compiled region: one region\. model\.py:4"/);
	assert.match(nodes[7] ?? "", /class="node error".*what happens · confirmed/);
	assert.equal(chainPage(chain(...STEPS), "n").match(/<li>/g)?.length, STEPS.length);
});
