// Runs a test or a script with recording: what torch made of it stands in the open documents then.
import * as vscode from "vscode";
import { COMMANDS } from "../names";
import type { Messages } from "./messages";
import type { Session } from "./session";

/** Register the commands; without arguments, they are about the test or script around the cursor. */
export function registerTracing(session: Session, messages: Messages): vscode.Disposable {
	return vscode.Disposable.from(
		vscode.commands.registerCommand(COMMANDS.trace, async (...args: unknown[]) => {
			const { client } = session;
			if (client === undefined) {
				await messages.answer("The server of nonstrict is not running.");
				return;
			}
			const target = args.length > 0 ? args : await targetAtCursor();
			if (target === undefined) {
				await messages.answer("Put the cursor into a test, or open a script, that compiles something.");
				return;
			}
			// What runs are the files on the disk.
			await vscode.workspace.saveAll(false);
			await client.run(COMMANDS.trace, target).catch((error: unknown) => {
				// The server has told the user.
				messages.log.info(`${COMMANDS.trace}: ${error instanceof Error ? error.message : String(error)}`);
			});
		}),
		vscode.commands.registerCommand(COMMANDS.cancelTrace, () => session.client?.run(COMMANDS.cancelTrace, [])),
	);
}

/** The arguments of the line that is nearest above the cursor, or of the first one in the document. */
async function targetAtCursor(): Promise<unknown[] | undefined> {
	const editor = vscode.window.activeTextEditor;
	if (editor === undefined) {
		return undefined;
	}
	const found = await vscode.commands.executeCommand<vscode.CodeLens[]>(
		"vscode.executeCodeLensProvider",
		editor.document.uri,
	);
	const lines = found.filter(({ command }) => command?.command === COMMANDS.trace);
	const above = lines.filter(({ range }) => range.start.line <= editor.selection.active.line);
	return (above.at(-1) ?? lines[0])?.command?.arguments;
}
