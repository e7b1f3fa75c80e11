// What VS Code calls when the extension starts and ends.
import type { ExtensionContext } from "vscode";
import { registerCommands } from "./editor/commands";
import { registerExplanations } from "./editor/explain";
import { registerFindings } from "./editor/findings";
import { Messages } from "./editor/messages";
import { RegionTree } from "./editor/regionTree";
import { Session } from "./editor/session";
import { Shown } from "./editor/shown";
import { Status } from "./editor/status";
import { registerTasks } from "./editor/tasks";
import { Testing } from "./editor/testing";
import { registerTracing } from "./editor/tracing";
import { Verdicts } from "./editor/verdicts";

let session: Session | undefined;

export async function activate(context: ExtensionContext): Promise<void> {
	const home = context.extensionPath;
	const messages = new Messages();
	session = new Session(home, messages);
	context.subscriptions.push(
		messages,
		session,
		new Shown(session),
		new Status(session),
		new RegionTree(session),
		new Verdicts(session),
		new Testing(session),
		registerCommands(session, messages),
		registerExplanations(session, messages),
		registerFindings(session, messages),
		registerTracing(session, messages),
		registerTasks(home, session, messages),
	);
	await session.begin();
}

export async function deactivate(): Promise<void> {
	await session?.stop();
}
