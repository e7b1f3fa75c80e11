// What is found in a function and in what it calls, or what a run made of it, as a list to choose from.
import * as vscode from "vscode";
import { COMMANDS } from "../names";
import { type Node, rowOf } from "../regionMap";
import type { Client } from "./client";
import type { Messages } from "./messages";
import { choosePlace, type Listed } from "./places";
import type { Session } from "./session";

/** Register the commands of the lines above functions, which take the address of a document and the name of a function. */
export function registerFindings(session: Session, messages: Messages): vscode.Disposable {
	const listing = (command: string, title: string) =>
		vscode.commands.registerCommand(command, async (...args: unknown[]) => {
			const { client } = session;
			if (client === undefined) {
				await messages.answer("The server of nonstrict is not running.");
				return;
			}
			try {
				const found = (await client.run(command, args.length > 0 ? args : placeOf(client))) as Node[];
				await choosePlace(title, found.map(listed), client);
			} catch (error) {
				// The server has told the user.
				messages.log.info(`${command}: ${error instanceof Error ? error.message : String(error)}`);
			}
		});
	return vscode.Disposable.from(
		listing(COMMANDS.showFindings, "Findings"),
		listing(COMMANDS.showRun, "What the last run did"),
	);
}

/** The place of the cursor. */
function placeOf(client: Client): unknown[] {
	const editor = vscode.window.activeTextEditor;
	const converter = client.code2ProtocolConverter;
	return editor === undefined
		? []
		: [converter.asUri(editor.document.uri), converter.asPosition(editor.selection.active)];
}

function listed(node: Node): Listed {
	const { icon, color } = rowOf(node);
	const drawn = new vscode.ThemeIcon(icon, color === undefined ? undefined : new vscode.ThemeColor(color));
	return { ...node, label: node.text, icon: drawn };
}
