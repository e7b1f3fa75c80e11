// The chain from a compiled region to what a finding is about, as the server tells it, and where its boxes stand.

/** What a place of a chain is. */
export type Kind = "region" | "entry" | "marker" | "call" | "effect" | "evidence";

/** A place of a chain. */
export interface Step {
	readonly kind: Kind;
	readonly text: string;
	/** The line as it is written. */
	readonly code: string;
	/** The name of the file. */
	readonly name: string;
	readonly uri: string;
	readonly range: { readonly start: Point; readonly end: Point };
}

interface Point {
	readonly line: number;
	readonly character: number;
}

/** The chain of a finding. */
export interface Chain {
	readonly code: string;
	readonly name: string;
	readonly function: string;
	readonly severity: "error" | "warning" | "note";
	readonly verdict: "confirmed" | "refuted" | "inconclusive" | null;
	readonly steps: readonly Step[];
}

/** A box of the picture; `step` is the position of its step. */
export interface Box {
	readonly step: number;
	readonly x: number;
	readonly y: number;
	readonly width: number;
	readonly height: number;
	readonly lines: readonly string[];
	readonly code: string;
	readonly place: string;
}

/** An arrow from the bottom of one box to the top of another. */
export interface Arrow {
	readonly from: Box;
	readonly to: Box;
}

/** The picture: its size, boxes and arrows. */
export interface Layout {
	readonly width: number;
	readonly height: number;
	readonly boxes: readonly Box[];
	readonly arrows: readonly Arrow[];
}

export const LABELS: Readonly<Record<Kind, string>> = {
	region: "compiled region",
	entry: "call in the region",
	marker: "marked function",
	call: "call",
	effect: "what happens",
	evidence: "evidence",
};

/** The icons of the editor by which lists tell the places apart. */
export const ICONS: Readonly<Record<Kind, string>> = {
	region: "circuit-board",
	entry: "arrow-right",
	marker: "tag",
	call: "arrow-right",
	effect: "lightbulb",
	evidence: "search",
};

export const LINE = 18;
const BOX_WIDTH = 360;
const GAP = 24;
const ARROW = 36;
const MARGIN = 12;
/** So many characters fit in a box at the size that the style sheet gives them. */
const TEXT_WIDTH = 48;
const CODE_WIDTH = 42;
const TEXT_LINES = 6;
/** Rows of regions, of their calls and of evidence hold so many boxes. */
const IN_A_ROW = 2;
/** What leads from the marker to what happens, one below the other. */
const WAY: readonly Kind[] = ["marker", "call", "effect"];

/** Where a step is, for people: `train.py:12`. */
export function placeOf({ name, range }: Pick<Step, "name" | "range">): string {
	return `${name}:${range.start.line + 1}`;
}

/** Divide a text at its blanks into lines of at most `width` characters; what exceeds `most` lines is left out. */
export function wrapped(text: string, width: number, most: number): string[] {
	const lines: string[] = [];
	let line = "";
	for (const word of text.split(/\s+/).filter((part) => part !== "")) {
		const longer = line === "" ? word : `${line} ${word}`;
		if (longer.length > width && line !== "") {
			lines.push(line);
			line = word;
		} else {
			line = longer;
		}
	}
	lines.push(line);
	const fitting = lines.map((one) => shortened(one, width));
	return fitting.length <= most
		? fitting
		: [...fitting.slice(0, most - 1), shortened(`${fitting[most - 1] ?? ""} …${" ".repeat(width)}`, width)];
}

/** A text cut to a number of characters. */
export function shortened(text: string, width: number): string {
	return text.length <= width ? text : `${text.slice(0, width - 1).trimEnd()}…`;
}

/** Boxes from top to bottom: regions beside each other, below them their calls, the marker, the calls, what happens, its evidence. */
export function layout(steps: readonly Step[]): Layout {
	const numbered = steps.map((step, position) => ({ step, position }));
	const rows: number[][] = [];
	const side = (kind: Kind) => numbered.filter((one) => one.step.kind === kind).map((one) => one.position);
	const push = (positions: readonly number[]) => {
		for (let start = 0; start < positions.length; start += IN_A_ROW) {
			rows.push(positions.slice(start, start + IN_A_ROW));
		}
	};
	push(side("region"));
	push(side("entry"));
	for (const one of numbered) {
		if (WAY.includes(one.step.kind)) {
			rows.push([one.position]);
		}
	}
	push(side("evidence"));
	return placed(steps, rows);
}

function placed(steps: readonly Step[], rows: readonly (readonly number[])[]): Layout {
	const widest = Math.max(1, ...rows.map((row) => row.length));
	const width = widest * BOX_WIDTH + (widest - 1) * GAP + 2 * MARGIN;
	const boxes: Box[] = [];
	let y = MARGIN;
	for (const row of rows) {
		const left = (width - row.length * BOX_WIDTH - (row.length - 1) * GAP) / 2;
		const inRow = row.map((step, column) => boxOf(steps, step, left + column * (BOX_WIDTH + GAP), y));
		boxes.push(...inRow);
		y += Math.max(...inRow.map((box) => box.height)) + ARROW;
	}
	const height = y - ARROW + MARGIN;
	return { width, height, boxes, arrows: arrowsOf(steps, boxes) };
}

function boxOf(steps: readonly Step[], position: number, x: number, y: number): Box {
	const step = steps[position] as Step;
	const lines = wrapped(step.text, TEXT_WIDTH, TEXT_LINES);
	return {
		step: position,
		x,
		y,
		width: BOX_WIDTH,
		// The label, the text, the code.
		height: (lines.length + 2) * LINE + 2 * MARGIN,
		lines,
		code: shortened(step.code, CODE_WIDTH),
		place: placeOf(step),
	};
}

/** A region leads to its calls, these to the first place of the way, each of that to the next, the last to all evidence. */
function arrowsOf(steps: readonly Step[], boxes: readonly Box[]): Arrow[] {
	const of = (...kinds: Kind[]) => boxes.filter((box) => kinds.includes((steps[box.step] as Step).kind));
	const way = of(...WAY);
	const [first, last] = [way[0], way.at(-1)];
	const arrows: Arrow[] = [];
	let region: Box | undefined;
	for (const box of of("region", "entry").sort((left, right) => left.step - right.step)) {
		if ((steps[box.step] as Step).kind === "region") {
			region = box;
			continue;
		}
		arrows.push(...(region === undefined ? [] : [{ from: region, to: box }]));
		arrows.push(...(first === undefined ? [] : [{ from: box, to: first }]));
	}
	way.slice(1).forEach((to, index) => {
		arrows.push({ from: way[index] as Box, to });
	});
	for (const to of last === undefined ? [] : of("evidence")) {
		arrows.push({ from: last as Box, to });
	}
	return arrows;
}
