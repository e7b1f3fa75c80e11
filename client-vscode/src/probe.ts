// Runs an interpreter for a moment, to hear which Python it is before a server is started in it.
import { execFile } from "node:child_process";
import { accessSync, constants, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, isAbsolute, join } from "node:path";

export const OLDEST = [3, 10] as const;
/** A busy machine with its environment on a network takes that long (ms). */
const PATIENCE = 30_000;
/** Understood by every Python, so that an old one can say what it is. */
const SCRIPT = "import sys; sys.stdout.write('%d.%d.%d' % tuple(sys.version_info[:3]))";

/** What came of asking. */
export type Answer =
	| { readonly kind: "fine"; readonly version: string }
	| { readonly kind: "old"; readonly version: string }
	| { readonly kind: "broken"; readonly reason: string };

/** Judge what an interpreter wrote. */
export function judged(written: string): Answer {
	const version = written.trim();
	const found = /^(\d+)\.(\d+)\.\d+$/.exec(version);
	if (found === null) {
		return { kind: "broken", reason: "it does not answer as Python does" };
	}
	const [major, minor] = [Number(found[1]), Number(found[2])];
	const old = major < OLDEST[0] || (major === OLDEST[0] && minor < OLDEST[1]);
	return { kind: old ? "old" : "fine", version };
}

/** Ask an interpreter for its version. */
export async function ask(python: string): Promise<Answer> {
	try {
		return judged(await output(python, ["-c", SCRIPT]));
	} catch (error) {
		return { kind: "broken", reason: reasonOf(error) };
	}
}

/** Ask an executable whether it is nonstrict; the reason why not, if it is not. */
export async function askExecutable(path: readonly string[]): Promise<string | undefined> {
	const [command = "", ...args] = path;
	try {
		const written = await output(command, [...args, "version"]);
		return /^nonstrict \d/.test(written) ? undefined : "it does not answer as nonstrict does";
	} catch (error) {
		return reasonOf(error);
	}
}

/** The first of some programs that the PATH has. */
export function onPath(names: readonly string[], environment: NodeJS.ProcessEnv = process.env): string | undefined {
	const endings = process.platform === "win32" ? [".exe"] : [""];
	const folders = (environment.PATH ?? "").split(delimiter).filter((folder) => isAbsolute(folder));
	for (const name of names) {
		for (const folder of folders) {
			const found = endings.map((ending) => join(folder, name + ending)).find(isProgram);
			if (found !== undefined) {
				return found;
			}
		}
	}
	return undefined;
}

function isProgram(path: string): boolean {
	try {
		accessSync(path, constants.X_OK);
		return statSync(path).isFile();
	} catch {
		return false;
	}
}

function output(command: string, args: readonly string[]): Promise<string> {
	return new Promise((resolve, reject) => {
		// The current directory would be searched for modules: it is not to be the user's.
		const options = { cwd: tmpdir(), timeout: PATIENCE, windowsHide: true };
		execFile(command, [...args], options, (error, written) => (error === null ? resolve(written) : reject(error)));
	});
}

function reasonOf(error: unknown): string {
	const told = error as NodeJS.ErrnoException & { killed?: boolean };
	if (told.code === "ENOENT") {
		return "there is no such program";
	}
	if (told.code === "EACCES") {
		return "it may not be run";
	}
	if (told.killed === true) {
		return "it did not answer";
	}
	return `it ended with ${told.code === undefined ? told.message : `status ${told.code}`}`;
}
