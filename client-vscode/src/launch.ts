// The command lines of nonstrict. A process to start is never a shell line, so that no path needs quoting.
import { join } from "node:path";
import type { ServerSettings } from "./settings";

/** A process to start. */
export interface CommandLine {
	readonly command: string;
	readonly args: readonly string[];
}

/** How nonstrict is run: by an executable of the user's, or in an interpreter. */
export type Program =
	| { readonly kind: "executable"; readonly path: readonly string[] }
	| { readonly kind: "interpreter"; readonly python: string; readonly strategy: ServerSettings["importStrategy"] };

/** A command of nonstrict. `home` is the directory of the extension. */
export function commandLine(program: Program, home: string, args: readonly string[]): CommandLine {
	if (program.kind === "executable") {
		const [command = "nonstrict", ...first] = program.path;
		return { command, args: [...first, ...args] };
	}
	const strategy = program.strategy === "useBundled" ? "bundled" : "environment";
	return { command: program.python, args: [join(home, "bundled", "launch.py"), strategy, ...args] };
}

/** The language server. It runs what the workspace names (its interpreter) only in a trusted one. */
export function serverCommand(program: Program, home: string, trusted: boolean): CommandLine {
	return commandLine(program, home, ["server", trusted ? "--trusted-workspace" : "--untrusted-workspace"]);
}

/** The check of `paths` (the current folder if there are none), one finding a line. */
export function checkCommand(
	program: Program,
	home: string,
	args: readonly string[],
	paths: readonly string[] = [],
): CommandLine {
	const targets = paths.length > 0 ? paths : ["."];
	return commandLine(program, home, ["check", "--output-format", "concise", ...args, "--", ...targets]);
}
