// A list of places in the code to choose from, in the order that it is given in.
import * as vscode from "vscode";
import { placeOf, type Step } from "../chain";
import type { Client } from "./client";

/** A place, and what is said of it. */
export interface Listed extends Pick<Step, "name" | "uri" | "range"> {
	readonly label: string;
	readonly detail: string;
	readonly icon: vscode.ThemeIcon;
}

interface Item extends vscode.QuickPickItem {
	readonly place: Listed;
}

/** Show each place while it is the chosen one of the list; what was shown before comes back if none is taken. */
export async function choosePlace(title: string, places: readonly Listed[], client: Client): Promise<void> {
	if (places.length === 0) {
		await vscode.window.showInformationMessage("There is nothing to list.");
		return;
	}
	const before = vscode.window.activeTextEditor;
	const selection = before?.selection;
	const items = places.map((place): Item => {
		const { label, detail, icon } = place;
		return { place, label, description: placeOf(place), detail, iconPath: icon };
	});
	// One after the other: what is opened last must be what is shown.
	let shown: Promise<void> = Promise.resolve();
	const chosen = await vscode.window.showQuickPick(items, {
		title,
		placeHolder: "Choose where to go",
		matchOnDescription: true,
		matchOnDetail: true,
		// To look around in the code that is shown does not end it.
		ignoreFocusOut: true,
		onDidSelectItem: (item) => {
			shown = shown.then(() => open((item as Item).place, client, true));
		},
	});
	await shown;
	if (chosen !== undefined) {
		await open(chosen.place, client, false);
	} else if (before !== undefined && selection !== undefined) {
		const options = before.viewColumn === undefined ? { selection } : { selection, viewColumn: before.viewColumn };
		await vscode.window.showTextDocument(before.document, options);
	}
}

async function open(place: Listed, client: Client, preserveFocus: boolean): Promise<void> {
	const converter = client.protocol2CodeConverter;
	const options = { selection: converter.asRange(place.range), preview: true, preserveFocus };
	await vscode.window.showTextDocument(converter.asUri(place.uri), options);
}
