// The verdicts of a document, as the server tells them, and how they look beside the code.

export type Status = "confirmed" | "refuted" | "inconclusive";

/** What an experiment said of a finding; stale if that was about an earlier text of the code. */
export interface Verdict {
	readonly range: { readonly start: Point; readonly end: Point };
	readonly code: string;
	readonly status: Status;
	/** What was seen, in one line. */
	readonly text: string;
	readonly stale: boolean;
}

interface Point {
	readonly line: number;
	readonly character: number;
}

/** What is drawn at a line: one mark beside it, and a text behind it. */
export interface Drawn {
	readonly line: number;
	readonly look: Look;
	readonly text: string;
}

/** How a verdict looks. */
export interface Look {
	readonly status: Status;
	readonly stale: boolean;
}

/** Kinds of themes, as the editor's manifest calls them. */
export type Theme = "dark" | "light" | "highContrast" | "highContrastLight";

/** From the one that is told first to the one that is told last. */
export const STATUSES: readonly Status[] = ["confirmed", "inconclusive", "refuted"];
export const LOOKS: readonly Look[] = STATUSES.flatMap((status) => [
	{ status, stale: false },
	{ status, stale: true },
]);

/** The colours of the manifest. What is refuted is muted, as is what is stale. */
export const COLORS: Readonly<Record<Status | "stale", Readonly<Record<Theme, string>>>> = {
	confirmed: { dark: "#f14c4c", light: "#c4314b", highContrast: "#ff8080", highContrastLight: "#a31b0a" },
	inconclusive: { dark: "#cca700", light: "#8a6100", highContrast: "#ffd700", highContrastLight: "#6b4b00" },
	refuted: { dark: "#6a9f7a", light: "#4f7d5d", highContrast: "#89d185", highContrastLight: "#1a5f2e" },
	stale: { dark: "#8f8f8f", light: "#6b6b6b", highContrast: "#c0c0c0", highContrastLight: "#505050" },
};

/** What is inside the ring of a mark: a cross, a question mark, a tick. Shapes tell what colours may not. */
const SIGNS: Readonly<Record<Status, string>> = {
	confirmed: "M5.5 5.5l5 5m0-5l-5 5",
	inconclusive: "M6 6.4c0-2.6 4-2.6 4 0 0 1.4-2 1.4-2 2.8m0 1.6v.6",
	refuted: "M5 8.3l2.1 2.1L11 6",
};
/** Of the text behind a line. */
const MAX_LENGTH = 160;

/** The colour of a look, by its name in the manifest. */
export function colorOf(look: Look): string {
	return `nonstrict.${look.stale ? "stale" : look.status}Foreground`;
}

/** What is drawn for some verdicts: at each line one mark, that of the one which counts most, and what all say. */
export function drawn(verdicts: readonly Verdict[]): Drawn[] {
	const lines = new Map<number, Verdict[]>();
	for (const one of verdicts) {
		const { line } = one.range.start;
		lines.set(line, [...(lines.get(line) ?? []), one]);
	}
	return [...lines].map(([line, listed]) => {
		const sorted = [...listed].sort((one, other) => rank(one) - rank(other));
		const first = sorted[0] as Verdict;
		return { line, look: { status: first.status, stale: first.stale }, text: cut(together(sorted)) };
	});
}

/** A mark as an image: filled where something was confirmed, with a broken ring where that is stale. */
export function mark({ status, stale }: Look, theme: Theme): string {
	const color = COLORS[stale ? "stale" : status][theme];
	const filled = status === "confirmed" && !stale;
	const ground = theme === "light" || theme === "highContrastLight" ? "#ffffff" : "#000000";
	const ring = `<circle cx="8" cy="8" r="6" fill="${filled ? color : "none"}" stroke="${color}"${
		stale ? ' stroke-dasharray="2.2 1.6"' : ""
	}/>`;
	const sign = `<path d="${SIGNS[status]}" fill="none" stroke="${filled ? ground : color}" stroke-width="1.4"/>`;
	return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16" width="16" height="16">${ring}${sign}</svg>`;
}

/** What stands behind a line: `confirmed · call 2: eager 3, compiled 2`. */
function words({ status, text, stale }: Verdict): string {
	return [stale ? `${status} before the edit` : status, text].filter((part) => part !== "").join(" · ");
}

/** What several say, each with its rule: `NST104, NST201 inconclusive · no inputs | NST101 refuted`. */
function together(verdicts: readonly Verdict[]): string {
	const codes = new Map<string, Set<string>>();
	for (const one of verdicts) {
		codes.set(words(one), (codes.get(words(one)) ?? new Set()).add(one.code));
	}
	const said = [...codes].map(([text, rules]) =>
		codes.size > 1 || rules.size > 1 ? `${[...rules].join(", ")} ${text}` : text,
	);
	return said.join(" | ");
}

/** What holds comes before what is stale. */
function rank({ status, stale }: Verdict): number {
	return STATUSES.indexOf(status) + (stale ? STATUSES.length : 0);
}

function cut(text: string): string {
	return text.length <= MAX_LENGTH ? text : `${text.slice(0, MAX_LENGTH - 1).trimEnd()}…`;
}
