// The status item of Python files: the torch that counts, the device, and whether experiments are under way.
import * as vscode from "vscode";
import { COMMANDS, CONTEXT, ID, METHODS, STATUS_ID } from "../names";
import { type Environment, statusText } from "../statusText";
import type { Phase, Session } from "./session";

const SEVERITIES = {
	information: vscode.LanguageStatusSeverity.Information,
	warning: vscode.LanguageStatusSeverity.Warning,
	error: vscode.LanguageStatusSeverity.Error,
} as const;

/** Keeps the item up to date. */
export class Status implements vscode.Disposable {
	private readonly item = vscode.languages.createLanguageStatusItem(STATUS_ID, [
		{ language: "python" },
		{ language: "markdown" },
		{ language: "restructuredtext" },
	]);
	private readonly disposables: vscode.Disposable;
	private phase: Phase = "off";
	private environment: Environment | undefined;
	private busy = false;
	private activity = "";

	constructor(private readonly session: Session) {
		this.item.name = ID;
		this.item.command = { command: COMMANDS.showLogs, title: "Show Logs" };
		this.disposables = vscode.Disposable.from(
			this.item,
			session.onPhase((phase) => this.entered(phase)),
			session.onClient((client) =>
				client.onNotification(METHODS.status, (told: { text: string; busy: boolean }) => this.heard(told)),
			),
			vscode.window.onDidChangeActiveTextEditor(() => void this.ask()),
			vscode.workspace.onDidChangeConfiguration((event) => event.affectsConfiguration(ID) && void this.ask()),
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
		const document = vscode.window.activeTextEditor?.document;
		const uri = document?.uri.scheme === "file" ? client.code2ProtocolConverter.asUri(document.uri) : undefined;
		// A configuration that is not valid is reported where it is wrong.
		const told = await client.sendRequest<Environment>(METHODS.environment, { uri }).catch(() => undefined);
		if (client === this.session.client) {
			this.environment = told;
			this.show();
		}
	}

	private show(): void {
		const { phase, environment, busy, activity } = this;
		const shown = statusText({ phase, environment, busy, activity });
		this.item.text = shown.text;
		this.item.detail = shown.detail;
		this.item.busy = shown.busy;
		this.item.severity = SEVERITIES[shown.severity];
	}
}
