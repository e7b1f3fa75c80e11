// The check of the workspace: its findings in the Problems view, by the server, else by a task for each folder.
import * as vscode from "vscode";
import { checkCommand } from "../launch";
import { COMMANDS, TASK_TYPE } from "../names";
import { withProgress } from "./commands";
import { checkArguments } from "./configuration";
import type { Messages } from "./messages";
import { programOf } from "./program";
import type { Session } from "./session";

/** Shows the Problems view. */
const PROBLEMS = "workbench.actions.view.problems";

/** The task of each folder, those that tasks.json names, and the command that runs them. */
export function registerTasks(home: string, session: Session, messages: Messages): vscode.Disposable {
	let checked = false;
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
			const { client } = session;
			if (folders.length === 0) {
				await messages.answer("nonstrict checks folders: open one first.");
				return;
			}
			await vscode.commands.executeCommand(PROBLEMS);
			if (client !== undefined) {
				checked = true;
				// The server tells how much it found.
				await withProgress("checking the workspace", (token) => client.run(COMMANDS.checkWorkspace, [], token)).then(
					undefined,
					(error: unknown) => messages.log.info(`${COMMANDS.checkWorkspace}: ${String(error)}`),
				);
				return;
			}
			for (const folder of folders) {
				const task = await taskOf(folder);
				if (task !== undefined) {
					// Findings make it fail, for which a terminal would come in front of them.
					task.presentationOptions = { reveal: vscode.TaskRevealKind.Never, clear: true };
					await vscode.tasks.executeTask(task);
				}
			}
		}),
		// A server that takes the place of another one shows the same files.
		session.onPhase((phase) => {
			if (phase === "running" && checked) {
				session.client?.run(COMMANDS.checkWorkspace, [true]).catch((error: unknown) => {
					messages.log.info(`${COMMANDS.checkWorkspace}: ${String(error)}`);
				});
			}
		}),
	);
}
