// Every call of the VS Code API, so that the rest can be tested without an editor.
import * as vscode from "vscode";
import { type CommandLine, checkCommand, type Settings } from "./command";

const TASK_TYPE = "nonstrict";

/** The settings that hold for a folder. */
export function settingsOf(folder: vscode.WorkspaceFolder): Settings {
	const settings = vscode.workspace.getConfiguration("nonstrict", folder);
	return { path: settings.get("path", "nonstrict"), args: settings.get<string[]>("args", []) };
}

/** A task that runs `line` in the folder and reads its output with the `nonstrict` problem matcher. */
export function checkTask(
	definition: vscode.TaskDefinition,
	folder: vscode.WorkspaceFolder,
	line: CommandLine,
): vscode.Task {
	const execution = new vscode.ProcessExecution(line.command, line.args, { cwd: folder.uri.fsPath });
	const task = new vscode.Task(definition, folder, "check", "nonstrict", execution, "$nonstrict");
	task.presentationOptions = { reveal: vscode.TaskRevealKind.Silent, clear: true };
	return task;
}

function taskOf(folder: vscode.WorkspaceFolder, definition: vscode.TaskDefinition = { type: TASK_TYPE }): vscode.Task {
	const paths: unknown = definition.paths;
	return checkTask(definition, folder, checkCommand(settingsOf(folder), Array.isArray(paths) ? paths.map(String) : []));
}

/** One task for each workspace folder, and any that tasks.json names. */
export function registerTasks(): vscode.Disposable {
	return vscode.tasks.registerTaskProvider(TASK_TYPE, {
		provideTasks: () => (vscode.workspace.workspaceFolders ?? []).map((folder) => taskOf(folder)),
		resolveTask: (task) => {
			const scope = task.scope;
			return typeof scope === "object" ? taskOf(scope, task.definition) : undefined;
		},
	});
}

/** The command `nonstrict: Check Workspace`: runs the task in every workspace folder. */
export function registerCheckCommand(): vscode.Disposable {
	return vscode.commands.registerCommand("nonstrict.checkWorkspace", async () => {
		const folders = vscode.workspace.workspaceFolders ?? [];
		if (folders.length === 0) {
			await vscode.window.showInformationMessage("nonstrict checks folders: open one first.");
		}
		for (const folder of folders) {
			await vscode.tasks.executeTask(taskOf(folder));
		}
	});
}
