// How serious a line is that the server wrote to standard error: `WARNING nonstrict.check: ...`.

export type Level = "error" | "warn" | "info";

/** The levels of Python's `logging`; the server itself leaves out what `nonstrict.logLevel` does not ask for. */
const LEVELS: Readonly<Record<string, Level>> = {
	CRITICAL: "error",
	ERROR: "error",
	WARNING: "warn",
	INFO: "info",
	DEBUG: "info",
};

/** Tells the level of each line; one without a level belongs to the line above it, as those of a traceback do. */
export class Levels {
	private last: Level = "error";

	of(line: string): Level {
		const named = /^([A-Z]+) [\w.]+: /.exec(line)?.[1];
		this.last = (named === undefined ? undefined : LEVELS[named]) ?? this.last;
		return this.last;
	}
}
