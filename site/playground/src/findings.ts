// Findings for people: below the pointer, and in the list beside the editor.

import { element, link, prose } from "./dom";
import { ruleAddress } from "./places";
import type { Finding, Fix, Place } from "./records";

const APPLICABILITY = { safe: "safe", unsafe: "unsafe", display: "to complete" } as const;
const MEANING = {
	safe: "Eager code computes what it did before",
	unsafe: "Eager code may compute something else afterwards: look at the result",
	display: "A part is left for you to fill in",
} as const;

/** Applies the fixes of findings: only to the text that they were computed for. */
export interface Fixer {
	apply(fix: Fix): void;
	/** Whether the findings on screen belong to the text as it is now. */
	ready(): boolean;
}

/** All of a finding: message, note, help, related places, fixes. */
export function described(finding: Finding, fixer: Fixer, go?: (place: Place) => void): HTMLElement {
	const rows: Node[] = [element("p", { class: "message" }, prose(finding.message), " ", rule(finding))];
	if (finding.note) {
		rows.push(element("p", { class: "more" }, element("b", {}, "note "), prose(finding.note)));
	}
	if (finding.help) {
		rows.push(element("p", { class: "more" }, element("b", {}, "help "), prose(finding.help)));
	}
	if (finding.related.length > 0) {
		rows.push(
			element(
				"ul",
				{ class: "related" },
				...finding.related.map((one) => element("li", {}, place(one, go), " ", prose(one.message))),
			),
		);
	}
	if (finding.fixes.length > 0) {
		rows.push(element("div", { class: "fixes" }, ...finding.fixes.map((one) => button(one, fixer))));
	}
	return element("div", { class: "described" }, ...rows);
}

function rule(finding: Finding): HTMLElement {
	const name = `${finding.code} ${finding.name}`;
	return link(ruleAddress(finding), name);
}

/** `line 16`, which leads there where it can. */
export function place(at: Place, go?: (place: Place) => void): HTMLElement {
	const text = `line ${at.location.row}`;
	return go
		? element("button", { type: "button", class: "place", onclick: () => go(at) }, text)
		: element("span", {}, text);
}

function button(fix: Fix, fixer: Fixer): HTMLElement {
	const certainty = APPLICABILITY[fix.applicability];
	return element(
		"button",
		{
			type: "button",
			class: `fix ${fix.applicability}`,
			title: MEANING[fix.applicability],
			disabled: !fixer.ready(),
			onclick: () => fixer.apply(fix),
		},
		"Fix: ",
		prose(fix.message),
		" ",
		element("span", { class: "certainty" }, certainty),
	);
}

/** The list beside the editor. */
export function listed(findings: readonly Finding[], fixer: Fixer, go: (place: Place) => void): HTMLElement {
	return element(
		"ol",
		{ class: "findings" },
		...findings.map((finding) =>
			element(
				"li",
				{ class: `finding ${finding.severity}`, "data-code": finding.code },
				element(
					"p",
					{ class: "where" },
					element("span", { class: "severity" }, finding.severity),
					" ",
					place(finding, go),
				),
				described(finding, fixer, go),
			),
		),
	);
}
