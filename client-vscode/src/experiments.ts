// Marked functions and regions as tests: how the answers of the server are grouped and told.
import type { Node } from "./regionMap";

/** A function that can be tried. */
export interface Trial extends Pick<Node, "uri" | "range"> {
	readonly function: string;
	/** What makes it one: a marker, or `compiled`. */
	readonly detail: string;
	/** The document that it is marked or compiled in. */
	readonly address: string;
}

/** How it went. */
export interface Trialled {
	readonly outcome: "passed" | "failed" | "skipped";
	/** What was confirmed, each with its place. */
	readonly findings: readonly string[];
	/** Why nothing was decided of others. */
	readonly reasons: readonly string[];
}

/** What tells a trial from the others of a workspace. */
export function nameOf(trial: Trial): string {
	return `${trial.address} ${trial.function}`;
}

/** Trials by the document that their functions are in, in the order of the first of each. */
export function byDocument(trials: readonly Trial[]): Map<string, Trial[]> {
	const found = new Map<string, Trial[]>();
	for (const trial of trials) {
		found.set(trial.uri, [...(found.get(trial.uri) ?? []), trial]);
	}
	return found;
}

/** What is written of a trial that decided nothing; lines of terminals end in CR LF. */
export function told(trial: Trial, { reasons }: Trialled): string {
	const why = reasons.length > 0 ? reasons.join("; ") : "no experiment told anything";
	return `${trial.function}: ${why}\r\n`;
}
