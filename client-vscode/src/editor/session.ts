// The one server of a window: started, restarted when something it depends on changes, stopped.
import { homedir } from "node:os";
import * as vscode from "vscode";
import { State } from "vscode-languageclient/node";
import type { Program } from "../launch";
import { serverCommand } from "../launch";
import { CONTEXT, ID } from "../names";
import { crashed, failedStart } from "../problems";
import { Client } from "./client";
import { needsRestart, serverSettings } from "./configuration";
import { interpreterOf, watchInterpreters } from "./interpreters";
import type { Messages } from "./messages";
import { programOf } from "./program";

/** Events that follow each other within this time are one (ms). */
const PAUSE = 300;

/** What the server is doing, for those who show it. */
export type Phase = "off" | "starting" | "running" | "failed";

/** Starts and ends servers, one at a time. */
export class Session implements vscode.Disposable {
	private readonly changes = new vscode.EventEmitter<Phase>();
	private readonly starts = new vscode.EventEmitter<Client>();
	private readonly trace = vscode.window.createOutputChannel(`${ID} trace`);
	private readonly disposables: vscode.Disposable[] = [this.changes, this.starts, this.trace];
	private chosen = new Map<string, string>();
	private current: Client | undefined;
	private identity = "";
	private work: Promise<void> = Promise.resolve();
	private timer: NodeJS.Timeout | undefined;

	/** Called when the server has started, ended or failed. */
	readonly onPhase = this.changes.event;
	/** Called with each client before it starts. */
	readonly onClient = this.starts.event;
	/** Shows a document that the server made. */
	showDocument: (uri: vscode.Uri) => Promise<void> = async () => {};

	constructor(
		private readonly home: string,
		private readonly messages: Messages,
	) {}

	/** The client of a server that answers. */
	get client(): Client | undefined {
		return this.current?.state === State.Running ? this.current : undefined;
	}

	/** Start, and follow whatever the choice of the server depends on. */
	begin(): Promise<void> {
		const later = () => this.later();
		this.disposables.push(
			vscode.workspace.onDidGrantWorkspaceTrust(later),
			vscode.workspace.onDidChangeWorkspaceFolders(later),
			vscode.workspace.onDidChangeConfiguration((event) => needsRestart(event) && later()),
		);
		const started = this.settle(false);
		void started.then(async () => this.disposables.push(await watchInterpreters(later)));
		return started;
	}

	/** Start the server anew, whatever it is doing. */
	restart(): Promise<void> {
		this.messages.settled();
		return this.settle(true);
	}

	/** End the server. */
	stop(): Promise<void> {
		clearTimeout(this.timer);
		return this.queue(() => this.end());
	}

	dispose(): void {
		vscode.Disposable.from(...this.disposables).dispose();
	}

	private later(): void {
		clearTimeout(this.timer);
		this.timer = setTimeout(() => void this.settle(false), PAUSE);
	}

	/** Have the server running that should be; the running one stays if it is that one. */
	private settle(anew: boolean): Promise<void> {
		return this.queue(async () => {
			const folders = vscode.workspace.workspaceFolders ?? [];
			const wanted =
				folders.length > 0 ? folders.some((one) => serverSettings(one).enable) : serverSettings(undefined).enable;
			if (!wanted) {
				await this.end();
				this.tell("off");
				return;
			}
			const [found] = await Promise.all([programOf(folders[0]), this.choose(folders)]);
			if ("problem" in found) {
				await this.end();
				this.tell("failed");
				void this.messages.tell(found.problem);
				return;
			}
			const identity = JSON.stringify([found.program, vscode.workspace.isTrusted]);
			if (!anew && identity === this.identity && this.client !== undefined) {
				await this.client.sendNotification("workspace/didChangeConfiguration", { settings: null });
				return;
			}
			await this.end();
			await this.start(found.program, folders[0]);
			this.identity = identity;
		});
	}

	private async start(program: Program, folder: vscode.WorkspaceFolder | undefined): Promise<void> {
		const line = serverCommand(program, this.home, vscode.workspace.isTrusted);
		this.messages.log.info(`starting ${[line.command, ...line.args].join(" ")}`);
		const client = new Client(line, {
			log: this.messages.log,
			trace: this.trace,
			directory: folder?.uri.scheme === "file" ? folder.uri.fsPath : homedir(),
			chosenInterpreter: (of) => this.chosen.get(of?.uri.toString() ?? ""),
			showDocument: (uri) => this.showDocument(uri),
			gaveUp: (times) => {
				this.tell("failed");
				void this.messages.tell(crashed(times));
			},
		});
		this.current = client;
		this.starts.fire(client);
		client.onDidChangeState(({ newState }) => {
			if (this.current === client && newState !== State.Stopped) {
				this.tell(newState === State.Running ? "running" : "starting");
			}
		});
		try {
			await client.start();
			this.messages.settled();
		} catch (error) {
			this.tell("failed");
			const told = error instanceof Error ? error.message : String(error);
			void this.messages.tell(failedStart(client.lastWords || told));
		}
	}

	private async end(): Promise<void> {
		const client = this.current;
		this.current = undefined;
		this.identity = "";
		if (client === undefined) {
			return;
		}
		try {
			await client.dispose();
		} catch (error) {
			// One that never came to run, or has just ended by itself, cannot be shut down in order.
			this.messages.log.debug(`the server could not be shut down: ${String(error)}`);
		}
		this.tell("off");
	}

	/** Ask which interpreters the user has chosen in the Python extensions, for experiments. */
	private async choose(folders: readonly vscode.WorkspaceFolder[]): Promise<void> {
		const chosen = new Map<string, string>();
		for (const folder of folders) {
			const interpreter = await interpreterOf(folder);
			if (interpreter !== undefined && (interpreter.source === "environments" || interpreter.source === "python")) {
				chosen.set(folder.uri.toString(), interpreter.python);
			}
		}
		this.chosen = chosen;
	}

	private tell(phase: Phase): void {
		void vscode.commands.executeCommand("setContext", CONTEXT.running, phase === "running");
		this.changes.fire(phase);
	}

	/** Do something when all that was begun before is done. */
	private queue(work: () => Promise<void>): Promise<void> {
		const done = this.work.then(work);
		this.work = done.catch((error: unknown) => this.messages.log.error(String(error)));
		return this.work;
	}
}
