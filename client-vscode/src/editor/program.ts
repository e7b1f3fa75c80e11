// Which nonstrict runs for a folder: looked up, and tried before anything is started in it.
import * as vscode from "vscode";
import type { Interpreter } from "../discovery";
import type { Program } from "../launch";
import { ask, askExecutable } from "../probe";
import { brokenExecutable, brokenInterpreter, noInterpreter, oldInterpreter, type Problem } from "../problems";
import { resolvePath } from "../settings";
import { folderPath, serverSettings } from "./configuration";
import { interpreterOf } from "./interpreters";

/** A program that can be run, or why there is none. */
export type Found = { readonly program: Program } | { readonly problem: Problem };

/** The nonstrict of a folder. */
export async function programOf(folder: vscode.WorkspaceFolder | undefined): Promise<Found> {
	const settings = serverSettings(folder);
	const [executable, ...first] = settings.path;
	if (executable !== undefined) {
		const path = [resolvePath(executable, folderPath(folder)), ...first];
		const reason = await askExecutable(path);
		return reason === undefined
			? { program: { kind: "executable", path } }
			: { problem: brokenExecutable(path.join(" "), reason) };
	}
	const interpreter = await interpreterOf(folder);
	if (interpreter === undefined) {
		return { problem: noInterpreter() };
	}
	const problem = await problemWith(interpreter);
	// What is installed beside an interpreter may be the workspace's own.
	const strategy = vscode.workspace.isTrusted ? settings.importStrategy : "useBundled";
	return problem === undefined
		? { program: { kind: "interpreter", python: interpreter.python, strategy } }
		: { problem };
}

async function problemWith(interpreter: Interpreter): Promise<Problem | undefined> {
	const answer = await ask(interpreter.python);
	switch (answer.kind) {
		case "fine":
			return undefined;
		case "old":
			return oldInterpreter(interpreter, answer.version);
		case "broken":
			return brokenInterpreter(interpreter, answer.reason);
	}
}
