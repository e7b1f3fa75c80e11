// What the user set, and what the paths among it mean.
import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";

/** The settings that decide which server runs; the server reads all others itself. */
export interface ServerSettings {
	readonly enable: boolean;
	readonly interpreter: readonly string[];
	readonly path: readonly string[];
	readonly importStrategy: "fromEnvironment" | "useBundled";
}

/** The settings of the section `nonstrict` whose change may need another server. */
export const RESTARTING = ["enable", "interpreter", "path", "importStrategy"] as const;

/** A path as users may write it: with `~` or a variable in front, or relative to the folder. */
export function resolvePath(text: string, folder: string, home: string = homedir()): string {
	const known = text
		.trim()
		.replace(/\$\{workspaceFolder\}/g, () => folder)
		.replace(/\$\{userHome\}/g, () => home)
		.replace(/^~(?=$|[/\\])/, () => home);
	const named = !/[/\\]/.test(known);
	return named || isAbsolute(known) || folder === "" ? known : join(folder, known);
}

/** The first entry of a list of paths that is not blank, resolved. */
export function firstPath(entries: readonly string[], folder: string): string | undefined {
	const first = entries.find((entry) => entry.trim() !== "");
	return first === undefined ? undefined : resolvePath(first, folder);
}
