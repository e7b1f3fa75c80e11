// The examples menu: programs of the repository, and both examples of each rule page.

import { beside } from "./places";

export interface Example {
	name: string;
	title: string;
	code: string;
}

export interface Group {
	title: string;
	examples: Example[];
}

/** What a playground shows that is given no program. */
export const FIRST = "layers";

let known: Promise<Group[]> | null = null;

/** Loaded once; a failed load is tried again when somebody asks again. */
export function exampleGroups(): Promise<Group[]> {
	known ??= loaded().catch((error) => {
		known = null;
		throw error;
	});
	return known;
}

async function loaded(): Promise<Group[]> {
	const response = await fetch(beside(BUILT.examples));
	if (!response.ok) {
		throw new Error(`the examples cannot be loaded (${response.status})`);
	}
	return (await response.json()) as Group[];
}

export function find(groups: readonly Group[], name: string): Example | undefined {
	return groups.flatMap((group) => group.examples).find((example) => example.name === name);
}
