// The commands: each is about the function, file or finding it is given, else about what the cursor is on.
import * as vscode from "vscode";
import { COMMANDS, CONFIRM_FIXED } from "../names";
import type { Client } from "./client";
import type { Messages } from "./messages";
import type { Session } from "./session";

/** A place that a command is about. */
interface Target {
	readonly uri: string;
	/** The name of a marked function, or a position in it. */
	readonly function: string | { line: number; character: number };
}

/** Register the commands that the server runs, and those about the server. */
export function registerCommands(session: Session, messages: Messages): vscode.Disposable {
	const onServer = (id: string, slow = "", answered?: (answer: unknown) => Promise<void>) =>
		vscode.commands.registerCommand(id, async (...args: unknown[]) => {
			const client = session.client;
			if (client === undefined) {
				await messages.answer("The server of nonstrict is not running.");
				return undefined;
			}
			const target = targetOf(client, args);
			if (target === undefined) {
				await messages.answer("Open a Python file, and put the cursor into a marked function.");
				return undefined;
			}
			try {
				const args = [target.uri, target.function];
				const answer = await (slow === ""
					? client.run(id, args)
					: withProgress(slow, (token) => client.run(id, args, token)));
				await answered?.(answer);
				return answer;
			} catch (error) {
				// The server has told the user.
				messages.log.info(`${id}: ${error instanceof Error ? error.message : String(error)}`);
				return undefined;
			}
		});
	return vscode.Disposable.from(
		vscode.commands.registerCommand(COMMANDS.restart, () => session.restart()),
		vscode.commands.registerCommand(COMMANDS.showLogs, () => messages.log.show()),
		vscode.commands.registerCommand(COMMANDS.debugInformation, () => showDebugInformation(session)),
		onServer(COMMANDS.confirmFunction),
		onServer(COMMANDS.confirmFile),
		vscode.commands.registerCommand(CONFIRM_FIXED, (...args: unknown[]) => confirmFixed(session, messages, args)),
		onServer(COMMANDS.cancel),
		onServer(COMMANDS.showGraph, "tracing the function"),
		onServer(COMMANDS.showCode, "compiling the function"),
		vscode.commands.registerCommand(COMMANDS.writeBaseline, () => writeBaseline(session, messages)),
		onServer(COMMANDS.writeRepro, "confirming the findings of the function", openScripts),
	);
}

/** Confirm a function after a fix; the server says what became of the finding. */
async function confirmFixed(session: Session, messages: Messages, args: unknown[]): Promise<void> {
	await session.client?.run(CONFIRM_FIXED, args).catch((error: unknown) => {
		messages.log.info(`${CONFIRM_FIXED}: ${String(error)}`);
	});
}

/** Show what takes long, and let the user give it up. */
export function withProgress<T>(what: string, work: (token: vscode.CancellationToken) => Promise<T>): Thenable<T> {
	const options = { location: vscode.ProgressLocation.Notification, title: `nonstrict: ${what}`, cancellable: true };
	return vscode.window.withProgress(options, (_, token) => work(token));
}

/** What a command was given, else the place of the cursor. */
function targetOf(client: Client, args: readonly unknown[]): Target | undefined {
	const [uri, name] = args;
	if (typeof uri === "string") {
		return { uri, function: typeof name === "string" ? name : "" };
	}
	const editor = vscode.window.activeTextEditor;
	if (editor === undefined) {
		return undefined;
	}
	const converter = client.code2ProtocolConverter;
	return { uri: converter.asUri(editor.document.uri), function: converter.asPosition(editor.selection.active) };
}

/** Have the findings of the folder of the open file known, or those of all folders; the server says what it wrote. */
async function writeBaseline(session: Session, messages: Messages): Promise<void> {
	const client = session.client;
	if (client === undefined) {
		await messages.answer("The server of nonstrict is not running.");
		return;
	}
	const document = vscode.window.activeTextEditor?.document;
	const args = document?.uri.scheme === "file" ? [client.code2ProtocolConverter.asUri(document.uri)] : [];
	await withProgress("examining what is left", (token) => client.run(COMMANDS.writeBaseline, args, token)).then(
		undefined,
		// The server has told the user.
		(error: unknown) => messages.log.info(`${COMMANDS.writeBaseline}: ${String(error)}`),
	);
}

/** Open the scripts that were written, the first one in front. */
async function openScripts(answer: unknown): Promise<void> {
	const paths = Array.isArray(answer) ? answer.map(String) : [];
	for (const path of paths.reverse()) {
		await vscode.window.showTextDocument(vscode.Uri.file(path), { preview: false });
	}
}

/** A document that says what a report of a bug should say. */
async function showDebugInformation(session: Session): Promise<void> {
	const extension = vscode.extensions.getExtension("nonstrict.nonstrict");
	const told =
		session.client === undefined ? "no server is running" : await session.client.run(COMMANDS.debugInformation, []);
	const content = [
		"# nonstrict",
		"",
		`- extension ${String(extension?.packageJSON.version)}, VS Code ${vscode.version} on ${process.platform}`,
		`- workspace: ${vscode.workspace.isTrusted ? "trusted" : "not trusted"}`,
		...String(told)
			.split("\n")
			.map((line) => `- ${line}`),
		"",
	].join("\n");
	await vscode.window.showTextDocument(await vscode.workspace.openTextDocument({ language: "markdown", content }));
}
