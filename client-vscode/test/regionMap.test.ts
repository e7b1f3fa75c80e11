import assert from "node:assert/strict";
import { test } from "node:test";
import { CONFIRMABLE, filtered, identified, type Kind, type Node, rowOf } from "../src/regionMap";

function node(kind: Kind, text: string, more: Partial<Node> = {}): Node {
	const at = { line: 4, character: 0 };
	const place = { name: "model.py", uri: "file:///model.py", range: { start: at, end: at } };
	return { kind, text, detail: "", worst: "", is: [], children: [], ...place, ...more };
}

test("a region says where it is and what becomes of it, its parts only what they are", () => {
	const region = rowOf(node("region", "step", { detail: "2 graphs · 1 break", worst: "warning" }));
	assert.equal(region.description, "model.py:5 · 2 graphs · 1 break");
	assert.equal(region.color, "list.warningForeground");
	assert.equal(region.spoken, "step, 2 graphs · 1 break, model.py:5");
	const graph = rowOf(node("graph", "graph 1", { detail: "`step`" }));
	assert.equal(graph.description, "`step`");
	assert.equal(graph.color, undefined);
	assert.equal(rowOf(node("marked", "scaled")).spoken, "scaled, model.py:5");
});

test("only a region with something to confirm has the menu for that", () => {
	assert.equal(rowOf(node("region", "step")).context, "region");
	assert.equal(rowOf(node("region", "step", { confirm: ["file:///model.py", "step"] })).context, CONFIRMABLE);
});

test("every kind of row has an icon of its own", () => {
	const kinds: Kind[] = ["region", "missed", "graph", "break", "eager", "marked", "varying", "finding"];
	assert.equal(new Set(kinds.map((kind) => rowOf(node(kind, "")).icon)).size, kinds.length);
});

test("a filter leaves what has what is wanted, and what leads there", () => {
	const found = node("finding", "NST101", { is: ["confirmed"] });
	const marked = node("marked", "scaled", { is: ["confirmed"], children: [found, node("finding", "NST201")] });
	const graphs = [node("graph", "graph 1", { children: [marked] }), node("graph", "graph 2")];
	const tree = [
		node("region", "step", { is: ["confirmed"], children: graphs }),
		node("region", "other", { is: ["observed"] }),
	];
	const names = (nodes: readonly Node[]): unknown[] =>
		nodes.flatMap(({ text, children }) => (children.length > 0 ? [text, names(children)] : [text]));
	assert.deepEqual(names(filtered(tree, "confirmed")), ["step", ["graph 1", ["scaled", ["NST101"]]]]);
	assert.deepEqual(names(filtered(tree, "observed")), ["other"]);
	assert.deepEqual(names(filtered(tree, "all")), names(tree));
});

test("rows have names of their own, which do not change when lines move", () => {
	const tree = (line: number) => {
		const at = { line, character: 0 };
		const range = { start: at, end: at };
		const graphs = [node("graph", "graph 1", { range }), node("break", "graph break"), node("break", "graph break")];
		return [
			node("region", "step", { range, children: graphs }),
			node("region", "step", { range }),
			node("region", "step", { uri: "file:///other.py" }),
		];
	};
	const names = [...identified(tree(1)).values()];
	assert.equal(new Set(names).size, 6);
	assert.deepEqual([...identified(tree(9)).values()], names);
});
