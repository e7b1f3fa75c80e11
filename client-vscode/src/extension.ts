// What VS Code calls when the extension starts.
import type { ExtensionContext } from "vscode";
import { registerCheckCommand, registerTasks } from "./editor";

export function activate(context: ExtensionContext): void {
	context.subscriptions.push(registerTasks(), registerCheckCommand());
}
