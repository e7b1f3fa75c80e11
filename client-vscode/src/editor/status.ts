// The status item: the torch that counts, the device, what is wrong, and what to do about it.
import * as vscode from "vscode";
import { COMMANDS, CONTEXT, ID, METHODS, STATUS_ID } from "../names";
import { type Environment, OFFERED, type StatusText, spoken, statusText, tooltip } from "../statusText";
import { chooseInterpreter } from "./interpreters";
import type { Phase, Session } from "./session";

const LANGUAGES = ["python", "markdown", "restructuredtext"];
/** Beside the language of the document. */
const PRIORITY = 100;

/** Keeps the item up to date: it is there beside what is checked, and wherever the server has failed. */
export class Status implements vscode.Disposable {
	private readonly item = vscode.window.createStatusBarItem(STATUS_ID, vscode.StatusBarAlignment.Right, PRIORITY);
	private readonly disposables: vscode.Disposable;
	private phase: Phase = "off";
	private environment: Environment | undefined;
	private busy = false;
	private activity = "";

	constructor(private readonly session: Session) {
		this.item.name = ID;
		this.item.command = COMMANDS.showStatus;
		const moved = () => {
			this.show();
			void this.ask();
		};
		this.disposables = vscode.Disposable.from(
			this.item,
			session.onPhase((phase) => this.entered(phase)),
			session.onClient((client) =>
				client.onNotification(METHODS.status, (told: { text: string; busy: boolean }) => this.heard(told)),
			),
			vscode.window.onDidChangeActiveTextEditor(moved),
			vscode.window.onDidChangeActiveNotebookEditor(moved),
			vscode.workspace.onDidChangeConfiguration((event) => event.affectsConfiguration(ID) && void this.ask()),
			vscode.commands.registerCommand(COMMANDS.showStatus, () => this.choose()),
			vscode.commands.registerCommand(COMMANDS.chooseInterpreter, () => chooseInterpreter()),
		);
		this.show();
	}

	dispose(): void {
		this.disposables.dispose();
	}

	private entered(phase: Phase): void {
		this.phase = phase;
		this.environment = undefined;
		this.heard({ text: "", busy: false });
	}

	private heard({ text, busy }: { text: string; busy: boolean }): void {
		this.activity = text;
		this.busy = busy;
		void vscode.commands.executeCommand("setContext", CONTEXT.confirming, busy);
		this.show();
		void this.ask();
	}

	/** Ask the server what counts for the active document. */
	private async ask(): Promise<void> {
		const client = this.session.client;
		if (client === undefined) {
			return;
		}
		const active = vscode.window.activeNotebookEditor?.notebook.uri ?? vscode.window.activeTextEditor?.document.uri;
		const uri = active?.scheme === "file" ? client.code2ProtocolConverter.asUri(active) : undefined;
		// A configuration that is not valid is reported where it is wrong.
		const told = await client.sendRequest<Environment>(METHODS.environment, { uri }).catch(() => undefined);
		if (client === this.session.client) {
			this.environment = told;
			this.show();
		}
	}

	private get text(): StatusText {
		const { phase, environment, busy, activity } = this;
		return statusText({ phase, environment, busy, activity });
	}

	private show(): void {
		const shown = this.text;
		const icon = shown.busy ? "$(sync~spin) " : shown.severity === "information" ? "" : "$(warning) ";
		this.item.text = `${icon}${shown.text}`;
		this.item.tooltip = new vscode.MarkdownString(tooltip(shown), true);
		this.item.tooltip.isTrusted = { enabledCommands: OFFERED };
		this.item.accessibilityInformation = { label: spoken(shown), role: "button" };
		this.item.backgroundColor =
			shown.severity === "error" ? new vscode.ThemeColor("statusBarItem.errorBackground") : undefined;
		if (this.phase === "failed" || (this.phase !== "off" && isChecked())) {
			this.item.show();
		} else {
			this.item.hide();
		}
	}

	/** The tooltip as a list, for the keyboard too. */
	private async choose(): Promise<void> {
		await this.ask();
		const { text, detail, facts, offers } = this.text;
		const rows: (vscode.QuickPickItem & { command?: string })[] = [
			...offers.map(({ command, label, icon }) => ({ label: `$(${icon}) ${label}`, command })),
			...(facts.length > 0 ? [{ label: "", kind: vscode.QuickPickItemKind.Separator }] : []),
			...facts.map(([name, value]) => ({ label: name, description: value })),
		];
		const chosen = await vscode.window.showQuickPick(rows, { title: text, placeHolder: detail });
		if (chosen?.command !== undefined) {
			await vscode.commands.executeCommand(chosen.command);
		}
	}
}

/** Whether the active editor is one of a document that may have findings. */
function isChecked(): boolean {
	const language = vscode.window.activeTextEditor?.document.languageId;
	return vscode.window.activeNotebookEditor !== undefined || (language !== undefined && LANGUAGES.includes(language));
}
