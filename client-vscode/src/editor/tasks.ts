// The check as a task: all findings of a folder in the Problems view, also where no server runs.
import * as vscode from "vscode";
import { checkCommand } from "../launch";
import { COMMANDS, TASK_TYPE } from "../names";
import { checkArguments } from "./configuration";
import type { Messages } from "./messages";
import { programOf } from "./program";

/** The task of each folder, those that tasks.json names, and the command that runs them. */
export function registerTasks(home: string, messages: Messages): vscode.Disposable {
	const taskOf = async (folder: vscode.WorkspaceFolder, definition: vscode.TaskDefinition = { type: TASK_TYPE }) => {
		const found = await programOf(folder);
		if ("problem" in found) {
			void messages.tell(found.problem);
			return undefined;
		}
		const paths: unknown = definition.paths;
		const targets = Array.isArray(paths) ? paths.map(String) : [];
		const line = checkCommand(found.program, home, checkArguments(folder), targets);
		const execution = new vscode.ProcessExecution(line.command, [...line.args], { cwd: folder.uri.fsPath });
		const task = new vscode.Task(definition, folder, "check", "nonstrict", execution, "$nonstrict");
		task.presentationOptions = { reveal: vscode.TaskRevealKind.Silent, clear: true };
		return task;
	};
	return vscode.Disposable.from(
		vscode.tasks.registerTaskProvider(TASK_TYPE, {
			provideTasks: async () => {
				const tasks = await Promise.all((vscode.workspace.workspaceFolders ?? []).map((folder) => taskOf(folder)));
				return tasks.filter((task) => task !== undefined);
			},
			resolveTask: (task) => (typeof task.scope === "object" ? taskOf(task.scope, task.definition) : undefined),
		}),
		vscode.commands.registerCommand(COMMANDS.checkWorkspace, async () => {
			const folders = vscode.workspace.workspaceFolders ?? [];
			if (folders.length === 0) {
				await messages.answer("nonstrict checks folders: open one first.");
			}
			for (const folder of folders) {
				const task = await taskOf(folder);
				if (task !== undefined) {
					await vscode.tasks.executeTask(task);
				}
			}
		}),
	);
}
