// What keeps the extension from doing its job, in one message each that says what to do.
import type { Interpreter, Source } from "./discovery";

/** What a button of a message does. */
export type Action = "settings" | "interpreter" | "logs";

/** A message to the user. Two of one `key` are about the same problem: it is told once. */
export interface Problem {
	readonly key: string;
	readonly message: string;
	readonly actions: readonly Action[];
}

const NAMED_BY: Readonly<Record<Source, string>> = {
	setting: "named in the setting `nonstrict.interpreter`",
	environments: "chosen in the Python Environments extension",
	python: "chosen in the Python extension",
	path: "found on the PATH",
};

/** No Python at all. */
export function noInterpreter(): Problem {
	return {
		key: "none",
		message:
			"nonstrict found no Python. Install Python 3.10 or newer, or name one in the setting `nonstrict.interpreter`.",
		actions: ["settings"],
	};
}

/** A Python that the server does not run in. */
export function oldInterpreter(interpreter: Interpreter, version: string): Problem {
	return {
		key: `old ${interpreter.python}`,
		message: `nonstrict needs Python 3.10 or newer. ${interpreter.python}, ${NAMED_BY[interpreter.source]}, is Python ${version}. Choose another one.`,
		actions: chosenIn(interpreter),
	};
}

/** Something that is no Python. */
export function brokenInterpreter(interpreter: Interpreter, reason: string): Problem {
	return {
		key: `broken ${interpreter.python}`,
		message: `nonstrict cannot run ${interpreter.python}, the Python ${NAMED_BY[interpreter.source]}: ${reason}.`,
		actions: chosenIn(interpreter),
	};
}

/** `nonstrict.path` names no nonstrict. */
export function brokenExecutable(path: string, reason: string): Problem {
	return {
		key: `executable ${path}`,
		message: `nonstrict cannot run ${path}, named in the setting \`nonstrict.path\`: ${reason}. Correct the setting or clear it.`,
		actions: ["settings"],
	};
}

/** The server did not get as far as answering. */
export function failedStart(reason: string): Problem {
	return {
		key: "start",
		message: `The server of nonstrict did not start: ${reason}. The log says more.`,
		actions: ["logs", "settings"],
	};
}

/** The server ended again and again. */
export function crashed(times: number): Problem {
	return {
		key: "crash",
		message: `The server of nonstrict ended ${times} times within three minutes, and is not started again. The log says why; "nonstrict: Restart Server" tries once more.`,
		actions: ["logs"],
	};
}

/** Where another interpreter is chosen. */
function chosenIn(interpreter: Interpreter): readonly Action[] {
	return interpreter.source === "environments" || interpreter.source === "python"
		? ["interpreter", "settings"]
		: ["settings"];
}
