// Messages to the user: what has been said is not said again before it was otherwise meanwhile.
import * as vscode from "vscode";
import { ID } from "../names";
import type { Action, Problem } from "../problems";
import { showsNotifications } from "./configuration";
import { chooseInterpreter } from "./interpreters";

const BUTTONS: Readonly<Record<Action, string>> = {
	settings: "Open Settings",
	interpreter: "Choose Interpreter",
	logs: "Show Logs",
};

/** The log, and the messages that pop up. */
export class Messages implements vscode.Disposable {
	readonly log = vscode.window.createOutputChannel(ID, { log: true });
	private told = "";

	/** Tell of a problem, unless it is the one that was told last. */
	async tell(problem: Problem): Promise<void> {
		this.log.error(problem.message);
		if (this.told === problem.key || !showsNotifications()) {
			return;
		}
		this.told = problem.key;
		const buttons = problem.actions.map((action) => ({ title: BUTTONS[action], action }));
		const pressed = await vscode.window.showErrorMessage(problem.message, ...buttons);
		await this.act(pressed?.action);
	}

	/** All is well: the same problem would be news again. */
	settled(): void {
		this.told = "";
	}

	/** Tell what came of a command, or did not. */
	async answer(text: string): Promise<void> {
		this.log.info(text);
		await vscode.window.showInformationMessage(text);
	}

	dispose(): void {
		this.log.dispose();
	}

	private async act(action: Action | undefined): Promise<void> {
		if (action === "settings") {
			await vscode.commands.executeCommand("workbench.action.openSettings", `@ext:${ID}.${ID}`);
		} else if (action === "interpreter") {
			await chooseInterpreter();
		} else if (action === "logs") {
			this.log.show();
		}
	}
}
