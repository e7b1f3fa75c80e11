import assert from "node:assert/strict";
import { test } from "node:test";
import { COLORS, colorOf, drawn, LOOKS, mark, type Status, type Theme, type Verdict } from "../src/verdicts";

/** The darkest and the brightest grounds of the themes that come with the editor. */
const GROUNDS: Readonly<Record<Theme, string>> = {
	dark: "#1f1f1f",
	light: "#ffffff",
	highContrast: "#000000",
	highContrastLight: "#ffffff",
};
/** What text needs by the guidelines for accessible content (WCAG 2), level AA; level AAA for high contrast. */
const CONTRAST: Readonly<Record<Theme, number>> = { dark: 4.5, light: 4.5, highContrast: 7, highContrastLight: 7 };
const THEMES = Object.keys(GROUNDS) as Theme[];

function verdict(line: number, status: Status, text: string, more: Partial<Verdict> = {}): Verdict {
	const at = { line, character: 4 };
	return { range: { start: at, end: at }, code: "NST101", status, text, stale: false, ...more };
}

function brightness(color: string): number {
	const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
		const part = Number.parseInt(color.slice(at, at + 2), 16) / 255;
		return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
	});
	return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function contrast(one: string, other: string): number {
	const [dark = 0, light = 0] = [brightness(one), brightness(other)].sort((left, right) => left - right);
	return (light + 0.05) / (dark + 0.05);
}

test("a verdict stands behind its line in its words, and says when it is of an earlier text", () => {
	const seen = "call 2: eager 3, compiled 2";
	const looks = [
		verdict(8, "confirmed", seen),
		verdict(9, "confirmed", seen, { stale: true }),
		verdict(3, "refuted", ""),
	];
	assert.deepEqual(drawn(looks), [
		{ line: 8, look: { status: "confirmed", stale: false }, text: `confirmed · ${seen}` },
		{ line: 9, look: { status: "confirmed", stale: true }, text: `confirmed before the edit · ${seen}` },
		{ line: 3, look: { status: "refuted", stale: false }, text: "refuted" },
	]);
	assert.deepEqual(drawn([]), []);
});

test("a line has one mark, that of what counts most, and says all that there is", () => {
	const [one, ...others] = drawn([
		verdict(4, "refuted", "agrees", { code: "NST201" }),
		verdict(4, "confirmed", "differs", { stale: true }),
		verdict(4, "inconclusive", "no inputs"),
	]);
	assert.deepEqual(others, []);
	assert.deepEqual(one?.look, { status: "inconclusive", stale: false });
	assert.equal(
		one?.text,
		"NST101 inconclusive · no inputs | NST201 refuted · agrees | NST101 confirmed before the edit · differs",
	);
	const said = (...codes: string[]) => drawn(codes.map((code) => verdict(4, "refuted", "agrees", { code })))[0]?.text;
	assert.equal(said("NST101", "NST101"), "refuted · agrees");
	assert.equal(said("NST101", "NST201"), "NST101, NST201 refuted · agrees");
	const [long] = drawn([verdict(1, "refuted", "x".repeat(300))]);
	assert.equal(long?.text.length, 160);
	assert.ok(long.text.endsWith("…"));
});

test("every look has a mark of its own, also without colours", () => {
	for (const theme of THEMES) {
		const marks = LOOKS.map((look) => mark(look, theme).replaceAll(/#[0-9a-f]{6}/g, "#"));
		assert.equal(new Set(marks).size, LOOKS.length);
	}
	assert.equal(new Set(LOOKS.map(colorOf)).size, 4);
});

test("what is drawn is legible in every kind of theme", () => {
	for (const theme of THEMES) {
		for (const [name, colors] of Object.entries(COLORS)) {
			assert.ok(contrast(colors[theme], GROUNDS[theme]) >= CONTRAST[theme], `${name} in ${theme}`);
		}
	}
});

test("what holds and is confirmed stands out more than what is refuted or stale", () => {
	for (const theme of ["dark", "light"] as const) {
		const colorful = (color: string) => {
			const parts = [1, 3, 5].map((at) => Number.parseInt(color.slice(at, at + 2), 16));
			return Math.max(...parts) - Math.min(...parts);
		};
		const [confirmed, refuted, stale] = [COLORS.confirmed, COLORS.refuted, COLORS.stale].map((one) =>
			colorful(one[theme]),
		);
		assert.ok((confirmed ?? 0) > 2 * (refuted ?? 0) && (refuted ?? 0) > (stale ?? 0), theme);
	}
});
