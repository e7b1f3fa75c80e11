// Verdicts beside the code: a mark in the gutter, and behind the line what the experiment saw.
import * as vscode from "vscode";
import { METHODS } from "../names";
import { colorOf, drawn, LOOKS, type Look, mark, type Theme, type Verdict } from "../verdicts";
import { drawsVerdicts, VERDICTS_SETTING } from "./configuration";
import type { Session } from "./session";

/** Changes that follow each other within this time are one (ms). */
const PAUSE = 200;
const LANGUAGES = ["python", "markdown", "restructuredtext"];

const THEMES: Readonly<Record<vscode.ColorThemeKind, Theme>> = {
	[vscode.ColorThemeKind.Dark]: "dark",
	[vscode.ColorThemeKind.Light]: "light",
	[vscode.ColorThemeKind.HighContrast]: "highContrast",
	[vscode.ColorThemeKind.HighContrastLight]: "highContrastLight",
};

/** Draws the verdicts of the documents that are seen, and asks for them again whenever there may be others. */
export class Verdicts implements vscode.Disposable {
	private readonly disposables: vscode.Disposable;
	private types = decorationTypes();
	private known = new WeakMap<vscode.TextDocument, readonly Verdict[]>();
	private timer: NodeJS.Timeout | undefined;

	constructor(private readonly session: Session) {
		const later = () => this.later();
		this.disposables = vscode.Disposable.from(
			session.onPhase(later),
			session.onClient((client) => client.onNotification(METHODS.verdictsChanged, later)),
			vscode.languages.onDidChangeDiagnostics(later),
			vscode.workspace.onDidChangeTextDocument(({ document }) => LANGUAGES.includes(document.languageId) && later()),
			vscode.workspace.onDidChangeConfiguration((event) => event.affectsConfiguration(VERDICTS_SETTING) && later()),
			vscode.window.onDidChangeVisibleTextEditors((editors) => {
				this.draw(editors);
				later();
			}),
			vscode.window.onDidChangeActiveColorTheme(() => this.repaint()),
		);
	}

	dispose(): void {
		clearTimeout(this.timer);
		this.disposables.dispose();
		this.clear();
	}

	private later(): void {
		clearTimeout(this.timer);
		this.timer = setTimeout(() => void this.refresh(), PAUSE);
	}

	private async refresh(): Promise<void> {
		const editors = vscode.window.visibleTextEditors.filter(({ document }) => LANGUAGES.includes(document.languageId));
		const documents = new Set(editors.map(({ document }) => document));
		await Promise.all([...documents].map((document) => this.ask(document)));
		this.draw(editors);
	}

	/** What is drawn stays until the server answers for the text that there is by then. */
	private async ask(document: vscode.TextDocument): Promise<void> {
		const { client } = this.session;
		if (client === undefined || !drawsVerdicts(document.uri)) {
			this.known.delete(document);
			return;
		}
		const { version } = document;
		const uri = client.code2ProtocolConverter.asUri(document.uri);
		const found = await client.sendRequest<Verdict[]>(METHODS.verdicts, { uri }).catch(() => undefined);
		if (found !== undefined && document.version === version) {
			this.known.set(document, found);
		}
	}

	private draw(editors: readonly vscode.TextEditor[]): void {
		for (const editor of editors) {
			const { document } = editor;
			const found = drawn(this.known.get(document) ?? []).filter(({ line }) => line < document.lineCount);
			for (const [look, type] of this.types) {
				const here = found.filter((one) => one.look.status === look.status && one.look.stale === look.stale);
				editor.setDecorations(
					type,
					here.map(({ line, text }) => {
						const { end } = document.lineAt(line).range;
						return { range: new vscode.Range(end, end), renderOptions: { after: { contentText: text } } };
					}),
				);
			}
		}
	}

	/** The images of another kind of theme have other colours. */
	private repaint(): void {
		this.clear();
		this.types = decorationTypes();
		this.draw(vscode.window.visibleTextEditors);
	}

	private clear(): void {
		for (const type of this.types.values()) {
			type.dispose();
		}
	}
}

function decorationTypes(): Map<Look, vscode.TextEditorDecorationType> {
	const theme = THEMES[vscode.window.activeColorTheme.kind];
	return new Map(LOOKS.map((look) => [look, decorationType(look, theme)]));
}

function decorationType(look: Look, theme: Theme): vscode.TextEditorDecorationType {
	const image = Buffer.from(mark(look, theme)).toString("base64");
	return vscode.window.createTextEditorDecorationType({
		gutterIconPath: vscode.Uri.parse(`data:image/svg+xml;base64,${image}`),
		gutterIconSize: "contain",
		rangeBehavior: vscode.DecorationRangeBehavior.ClosedClosed,
		after: {
			margin: "0 0 0 3em",
			color: new vscode.ThemeColor(colorOf(look)),
			fontStyle: look.stale ? "italic" : "normal",
		},
	});
}
