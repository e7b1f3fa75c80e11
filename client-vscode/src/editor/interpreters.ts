// The interpreter of a folder, as the two Python extensions, the settings and the PATH have it.
import * as vscode from "vscode";
import { discover, type Interpreter } from "../discovery";
import { ID } from "../names";
import { onPath } from "../probe";
import { firstPath } from "../settings";
import { folderPath, serverSettings } from "./configuration";

const ENVIRONMENTS = "ms-python.vscode-python-envs";
const PYTHON = "ms-python.python";

/** The part of the API of the Python Environments extension that is used. */
interface EnvironmentsApi {
	getEnvironment(scope?: vscode.Uri): Promise<{ execInfo?: { run?: { executable?: string } } } | undefined>;
	onDidChangeEnvironment?: vscode.Event<unknown>;
}

/** The part of the API of the Python extension that is used. */
interface PythonApi {
	readonly environments?: {
		getActiveEnvironmentPath(resource?: vscode.Uri): { path: string };
		resolveEnvironment(path: { path: string }): Promise<{ executable?: { uri?: vscode.Uri } } | undefined>;
		onDidChangeActiveEnvironmentPath: vscode.Event<unknown>;
	};
}

/** The interpreter that counts for a folder; undefined if there is none at all. */
export function interpreterOf(folder: vscode.WorkspaceFolder | undefined): Promise<Interpreter | undefined> {
	const sources = {
		setting: () => firstPath(serverSettings(folder).interpreter, folderPath(folder)),
		environments: async () => {
			const api = await exported<EnvironmentsApi>(ENVIRONMENTS);
			return (await api?.getEnvironment(folder?.uri))?.execInfo?.run?.executable;
		},
		python: async () => {
			const environments = (await exported<PythonApi>(PYTHON))?.environments;
			const active = environments?.getActiveEnvironmentPath(folder?.uri);
			return active && (await environments?.resolveEnvironment(active))?.executable?.uri?.fsPath;
		},
		path: () => onPath(process.platform === "win32" ? ["python", "python3"] : ["python3", "python"]),
	};
	return discover(sources, vscode.workspace.isTrusted);
}

/** Call `changed` when another interpreter may have been chosen. */
export async function watchInterpreters(changed: () => void): Promise<vscode.Disposable> {
	const environments = await exported<EnvironmentsApi>(ENVIRONMENTS).catch(() => undefined);
	const python = await exported<PythonApi>(PYTHON).catch(() => undefined);
	return vscode.Disposable.from(
		vscode.extensions.onDidChange(changed),
		...[
			environments?.onDidChangeEnvironment?.(changed),
			python?.environments?.onDidChangeActiveEnvironmentPath(changed),
		].filter((one) => one !== undefined),
	);
}

/** Have the user choose an interpreter: in the setting if it names one, as that counts first, else where they know. */
export async function chooseInterpreter(): Promise<void> {
	const named = vscode.workspace.getConfiguration(ID, vscode.workspace.workspaceFolders?.[0]).inspect("interpreter");
	const inWorkspace = (named?.workspaceFolderValue ?? named?.workspaceValue) !== undefined;
	const settings = () =>
		vscode.commands.executeCommand(
			inWorkspace ? "workbench.action.openWorkspaceSettings" : "workbench.action.openSettings",
			`${ID}.interpreter`,
		);
	if (serverSettings(vscode.workspace.workspaceFolders?.[0]).interpreter.length > 0) {
		await settings();
		return;
	}
	await vscode.commands.executeCommand("python.setInterpreter").then(undefined, settings);
}

async function exported<Api>(id: string): Promise<Api | undefined> {
	const extension = vscode.extensions.getExtension<Api>(id);
	return extension === undefined ? undefined : await extension.activate();
}
