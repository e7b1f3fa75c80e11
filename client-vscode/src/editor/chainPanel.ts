// The view that a chain is drawn in.
import { randomBytes } from "node:crypto";
import * as vscode from "vscode";
import type { Chain, Step } from "../chain";
import { chainPage } from "../chainPage";
import { CHAIN_VIEW } from "../names";

/** One panel, which shows the chain that was asked for last. */
export class ChainPanel implements vscode.Disposable {
	private panel: vscode.WebviewPanel | undefined;
	private open: (step: number) => void = () => {};

	/** Draw a chain; `open` is called with the step that the user chooses. */
	show(chain: Chain, open: (step: Step) => Promise<void>): void {
		this.open = (number) => {
			const step = chain.steps[number];
			if (step !== undefined) {
				void open(step);
			}
		};
		this.panel ??= this.made();
		this.panel.title = `Chain: ${chain.code}`;
		this.panel.webview.html = chainPage(chain, randomBytes(16).toString("hex"));
		this.panel.reveal(undefined, false);
	}

	dispose(): void {
		this.panel?.dispose();
	}

	private made(): vscode.WebviewPanel {
		const column = { viewColumn: vscode.ViewColumn.Beside, preserveFocus: false };
		const panel = vscode.window.createWebviewPanel(CHAIN_VIEW, "Chain", column, {
			enableScripts: true,
			localResourceRoots: [],
		});
		panel.webview.onDidReceiveMessage((message: { open?: unknown }) => {
			if (typeof message.open === "number") {
				this.open(message.open);
			}
		});
		panel.onDidDispose(() => {
			this.panel = undefined;
		});
		return panel;
	}
}
