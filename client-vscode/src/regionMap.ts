// What is compiled in the workspace, as the server tells it, and how the rows of its tree look.

/** What a row of the tree is. */
export type Kind = "region" | "missed" | "graph" | "break" | "eager" | "marked" | "varying" | "finding";

/** The worst of what is found somewhere: a verdict, a severity, or nothing. */
export type Worst = "confirmed" | "error" | "warning" | "note" | "inconclusive" | "refuted" | "";

/** What is known of findings beside their rule: an experiment confirmed one, a real run did what one says. */
export type Known = "confirmed" | "observed";

/** Which regions are shown. */
export type Filter = Known | "all";

/** A row: a region, or a part of one. */
export interface Node {
	readonly kind: Kind;
	readonly text: string;
	readonly detail: string;
	readonly worst: Worst;
	readonly is: readonly Known[];
	/** The name of the file. */
	readonly name: string;
	readonly uri: string;
	readonly range: { readonly start: Point; readonly end: Point };
	readonly children: readonly Node[];
	/** Of a region that can be confirmed: the document and the function. */
	readonly confirm?: readonly [string, string];
}

interface Point {
	readonly line: number;
	readonly character: number;
}

/** A row as it is shown; icons and colours are names of the editor's. */
export interface Row {
	readonly description: string;
	readonly icon: string;
	readonly color: string | undefined;
	/** What menus know it by. */
	readonly context: string;
	/** What a screen reader says. */
	readonly spoken: string;
}

const ICONS: Readonly<Record<Kind, string>> = {
	region: "circuit-board",
	missed: "question",
	graph: "type-hierarchy",
	break: "debug-disconnect",
	eager: "circle-slash",
	marked: "tag",
	varying: "sync",
	finding: "lightbulb",
};

const COLORS: Readonly<Record<Worst, string | undefined>> = {
	confirmed: "list.errorForeground",
	error: "list.errorForeground",
	warning: "list.warningForeground",
	note: "problemsInfoIcon.foreground",
	inconclusive: "disabledForeground",
	refuted: "testing.iconPassed",
	"": undefined,
};

/** What menus know a region by that can be confirmed. */
export const CONFIRMABLE = "region.confirmable";

/** How a row looks. */
export function rowOf(node: Node): Row {
	const place = `${node.name}:${node.range.start.line + 1}`;
	const isTop = node.kind === "region" || node.kind === "missed";
	const description = [isTop ? place : "", node.detail].filter((part) => part !== "").join(" · ");
	return {
		description,
		icon: ICONS[node.kind],
		color: COLORS[node.worst],
		context: node.confirm === undefined ? node.kind : CONFIRMABLE,
		spoken: `${node.text}, ${node.detail === "" ? "" : `${node.detail}, `}${place}`,
	};
}

/** The rows that have what is wanted, or lead to one that has it. */
export function filtered(nodes: readonly Node[], filter: Filter): Node[] {
	if (filter === "all") {
		return [...nodes];
	}
	return nodes.flatMap((node) => {
		const children = filtered(node.children, filter);
		return node.is.includes(filter) || children.length > 0 ? [{ ...node, children }] : [];
	});
}

/** A name for each row, the same as long as its function is: what is unfolded stays so. */
export function identified(nodes: readonly Node[]): Map<Node, string> {
	const names = new Map<Node, string>();
	const name = (siblings: readonly Node[], above: string) => {
		const seen = new Map<string, number>();
		for (const node of siblings) {
			const own = `${above}/${node.kind} ${above === "" ? `${node.uri} ` : ""}${node.text}`;
			const count = seen.get(own) ?? 0;
			seen.set(own, count + 1);
			names.set(node, `${own} ${count}`);
			name(node.children, `${own} ${count}`);
		}
	};
	name(nodes, "");
	return names;
}
