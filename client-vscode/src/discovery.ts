// Which Python counts: the first that somebody chose, else the first that is found.

/** Where an interpreter was named; the user's own choices also count for experiments. */
export type Source = "setting" | "environments" | "python" | "path";

/** An interpreter, and who named it. */
export interface Interpreter {
	readonly python: string;
	readonly source: Source;
}

/** What is asked for an interpreter, in this order; each answers with a path or nothing. */
export interface Sources {
	/** `nonstrict.interpreter`. */
	setting(): string | undefined;
	/** The extension ms-python.vscode-python-envs, if it is installed. */
	environments(): Promise<string | undefined>;
	/** The extension ms-python.python, if it is installed. */
	python(): Promise<string | undefined>;
	/** `python3`, then `python`, on the PATH. */
	path(): string | undefined;
}

/** The interpreter of a folder. In a workspace that is not trusted, extensions may name one of the workspace: not asked. */
export async function discover(sources: Sources, trusted: boolean): Promise<Interpreter | undefined> {
	const set = sources.setting();
	if (set !== undefined) {
		return { python: set, source: "setting" };
	}
	if (trusted) {
		for (const source of ["environments", "python"] as const) {
			const python = await sources[source]().catch(() => undefined);
			if (python !== undefined && python !== "") {
				return { python, source };
			}
		}
	}
	const python = sources.path();
	return python === undefined ? undefined : { python, source: "path" };
}
