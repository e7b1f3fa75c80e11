// The settings of the section `nonstrict`, as they hold for a folder.
import * as vscode from "vscode";
import { ID } from "../names";
import { RESTARTING, type ServerSettings } from "../settings";

/** The settings that decide which server runs. */
export function serverSettings(folder: vscode.WorkspaceFolder | undefined): ServerSettings {
	const settings = vscode.workspace.getConfiguration(ID, folder);
	return {
		enable: settings.get("enable", true),
		interpreter: strings(settings.get("interpreter")),
		path: strings(settings.get("path")),
		importStrategy: settings.get("importStrategy") === "useBundled" ? "useBundled" : "fromEnvironment",
	};
}

/** Further arguments of the check that the task runs. */
export function checkArguments(folder: vscode.WorkspaceFolder): readonly string[] {
	return strings(vscode.workspace.getConfiguration(ID, folder).get("args"));
}

/** The setting that says whether verdicts are drawn beside the code. */
export const VERDICTS_SETTING = `${ID}.verdicts.enable`;

/** Whether the verdicts of a document are drawn beside its code. */
export function drawsVerdicts(uri: vscode.Uri): boolean {
	return vscode.workspace.getConfiguration(undefined, uri).get(VERDICTS_SETTING) !== false;
}

/** The setting that says whether functions are listed as tests. */
export const TESTING_SETTING = `${ID}.testing.enable`;

/** Whether functions are listed as tests. */
export function listsTests(): boolean {
	return vscode.workspace.getConfiguration().get(TESTING_SETTING) !== false;
}

/** Whether messages may pop up. */
export function showsNotifications(): boolean {
	return vscode.workspace.getConfiguration(ID).get("showNotifications") !== "off";
}

/** Whether a change of settings may need another server. */
export function needsRestart(event: vscode.ConfigurationChangeEvent): boolean {
	return RESTARTING.some((name) => event.affectsConfiguration(`${ID}.${name}`));
}

/** The path of a folder, empty without one. */
export function folderPath(folder: vscode.WorkspaceFolder | undefined): string {
	return folder?.uri.fsPath ?? "";
}

function strings(value: unknown): string[] {
	const list = typeof value === "string" ? [value] : value;
	return Array.isArray(list) ? list.filter((entry) => typeof entry === "string" && entry.trim() !== "") : [];
}
