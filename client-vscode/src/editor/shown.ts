// Graphs and generated code beside their source: opened read-only, and marked where the cursor is on the other side.
import * as vscode from "vscode";
import { LineMap, type Origin } from "../lineMap";
import { METHODS, SCHEME } from "../names";
import type { Client } from "./client";
import type { Session } from "./session";

/** Follows the cursor between documents that the server made and the documents they are of. */
export class Shown implements vscode.Disposable {
	private readonly maps = new Map<string, LineMap>();
	private readonly marking = vscode.window.createTextEditorDecorationType({
		isWholeLine: true,
		backgroundColor: new vscode.ThemeColor("editor.wordHighlightBackground"),
		border: "1px solid",
		borderColor: new vscode.ThemeColor("editor.wordHighlightBorder"),
		overviewRulerColor: new vscode.ThemeColor("editorOverviewRuler.wordHighlightForeground"),
	});
	private readonly disposables: vscode.Disposable;

	constructor(private readonly session: Session) {
		session.showDocument = (uri) => this.show(uri);
		this.disposables = vscode.Disposable.from(
			this.marking,
			vscode.window.onDidChangeTextEditorSelection(({ textEditor }) => this.follow(textEditor)),
			vscode.workspace.onDidChangeTextDocument((event) => void this.changed(event)),
			vscode.workspace.onDidCloseTextDocument(({ uri }) => this.maps.delete(uri.toString())),
			vscode.window.onDidChangeVisibleTextEditors((editors) => void this.restored(editors)),
		);
	}

	dispose(): void {
		this.disposables.dispose();
	}

	/** Show a document of the server beside the active one, or where it is already. */
	private async show(uri: vscode.Uri): Promise<void> {
		const source = vscode.window.activeTextEditor;
		const known = vscode.window.visibleTextEditors.find((editor) => editor.document.uri.toString() === uri.toString());
		const document = await vscode.workspace.openTextDocument(uri);
		await vscode.window.showTextDocument(document, {
			viewColumn: known?.viewColumn ?? vscode.ViewColumn.Beside,
			preserveFocus: true,
			preview: false,
		});
		await this.load(document);
		if (source !== undefined) {
			this.follow(source);
		}
	}

	/** Ask the server where the lines of a document came from. */
	private async load(document: vscode.TextDocument): Promise<void> {
		const client = this.session.client;
		if (client === undefined) {
			return;
		}
		const uri = client.code2ProtocolConverter.asUri(document.uri);
		const origins = await client.sendRequest<Origin[] | null>(METHODS.origins, { uri }).catch(() => null);
		if (origins !== null) {
			const known = origins.map((one) => ({ ...one, uri: asText(client, one.uri) }));
			this.maps.set(document.uri.toString(), new LineMap(known));
		}
	}

	/** A document of the server has another text; or a source was edited, and its rows have moved. */
	private async changed({ document, contentChanges }: vscode.TextDocumentChangeEvent): Promise<void> {
		if (isShown(document)) {
			await this.load(document);
			return;
		}
		const uri = document.uri.toString();
		for (const { range, text } of contentChanges) {
			const edit = { first: range.start.line, last: range.end.line, now: text.split("\n").length };
			for (const [shown, map] of this.maps) {
				this.maps.set(shown, map.edited(uri, edit));
			}
		}
	}

	/** Documents of an earlier session come back without their origins. */
	private async restored(editors: readonly vscode.TextEditor[]): Promise<void> {
		for (const { document } of editors) {
			if (isShown(document) && !this.maps.has(document.uri.toString())) {
				await this.load(document);
			}
		}
	}

	private follow(editor: vscode.TextEditor): void {
		if (editor !== vscode.window.activeTextEditor) {
			return;
		}
		const row = editor.selection.active.line;
		const map = this.maps.get(editor.document.uri.toString());
		editor.setDecorations(this.marking, []);
		for (const other of vscode.window.visibleTextEditors) {
			if (other === editor) {
				continue;
			}
			const uri = other.document.uri.toString();
			const here = editor.document.uri.toString();
			const theirs = map === undefined ? this.maps.get(uri)?.linesOf(here, row) : rowsIn(map, row, uri);
			if (theirs !== undefined) {
				this.mark(other, theirs);
			}
		}
	}

	private mark(editor: vscode.TextEditor, rows: readonly number[]): void {
		const ranges = rows
			.filter((row) => row < editor.document.lineCount)
			.map((row) => editor.document.lineAt(row).range);
		editor.setDecorations(this.marking, ranges);
		const first = ranges[0];
		if (first !== undefined) {
			editor.revealRange(first, vscode.TextEditorRevealType.InCenterIfOutsideViewport);
		}
	}
}

function rowsIn(map: LineMap, line: number, uri: string): number[] {
	return map
		.sourcesOf(line)
		.filter((origin) => origin.uri === uri)
		.map((origin) => origin.row);
}

function isShown(document: vscode.TextDocument): boolean {
	return document.uri.scheme === SCHEME && /^\/(graph|code)\//.test(document.uri.path);
}

/** An address of the server as the editor writes it. */
function asText(client: Client, uri: string): string {
	return client.protocol2CodeConverter.asUri(uri).toString();
}
