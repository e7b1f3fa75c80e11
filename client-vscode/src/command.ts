// The command line of `nonstrict check`, built from settings and a task definition; knows nothing of VS Code.

/** What the user set: the command to run and further arguments of `nonstrict check`. */
export interface Settings {
	readonly path: string;
	readonly args: readonly string[];
}

/** A process to start: never a shell line, so that no path needs quoting. */
export interface CommandLine {
	readonly command: string;
	readonly args: string[];
}

/** The process that checks `paths` (the current folder if there are none), one finding a line. */
export function checkCommand(settings: Settings, paths: readonly string[] = []): CommandLine {
	const targets = paths.length > 0 ? paths : ["."];
	return {
		command: settings.path.trim() || "nonstrict",
		args: ["check", "--output-format", "concise", ...settings.args, "--", ...targets],
	};
}
