// What a program compiles, region by region, as `nonstrict regions` lists it.

import { element, prose } from "./dom";
import { place } from "./findings";
import type { Place, Region, Related } from "./records";

const KINDS = { graph: "graph", break: "break", eager: "plain Python" } as const;
const LISTS = [
	["recompilations", "Compiled again for"],
	["marked", "Marked functions that it calls"],
	["callers", "Called at"],
	["not_looked_into", "Not looked into"],
] as const;

export function compiled(regions: readonly Region[], go: (place: Place) => void): HTMLElement {
	return element("ol", { class: "regions" }, ...regions.map((region) => one(region, go)));
}

function one(region: Region, go: (place: Place) => void): HTMLElement {
	const { record } = region;
	const rows: Node[] = [];
	if (!record.looked_at) {
		rows.push(element("p", { class: "more" }, element("b", {}, "not looked at "), prose(record.reason ?? "")));
	}
	if (region.options.length > 0) {
		rows.push(element("p", { class: "more" }, element("code", {}, region.options.join(", "))));
	}
	if (record.parts.length > 0) {
		rows.push(
			element(
				"ul",
				{ class: "parts" },
				...record.parts.map((part, index) =>
					element(
						"li",
						{ class: part.kind, style: `--depth: ${part.depth}` },
						element("span", { class: "kind" }, KINDS[part.kind]),
						" ",
						prose(region.parts[index] ?? ""),
						" ",
						place(part, go),
					),
				),
			),
		);
	}
	for (const [field, heading] of LISTS) {
		rows.push(...related(heading, record[field], go));
	}
	return element(
		"li",
		{ class: "region" },
		element(
			"p",
			{ class: "message" },
			element("b", {}, element("code", {}, record.function ?? "?")),
			region.graphs ? `: ${region.graphs} ` : " ",
			place(record, go),
		),
		...rows,
	);
}

function related(heading: string, places: readonly Related[], go: (place: Place) => void): Node[] {
	if (places.length === 0) {
		return [];
	}
	const items = places.map((at) => element("li", {}, place(at, go), " ", prose(at.message)));
	return [element("p", { class: "more" }, element("b", {}, heading)), element("ul", { class: "related" }, ...items)];
}
