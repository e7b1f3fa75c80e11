// The output of `nonstrict.trace.server`.
import * as vscode from "vscode";
import { ID } from "../names";

/**
 * A log whose level is the setting's.
 *
 * The language client writes messages to a channel at the level "trace", and only while the channel has that level,
 * which users would have to choose in the output view besides.
 */
export class TraceChannel implements vscode.LogOutputChannel {
	readonly name: string;
	readonly onDidChangeLogLevel: vscode.Event<vscode.LogLevel>;
	private readonly channel: vscode.OutputChannel;

	constructor(channel: vscode.OutputChannel) {
		this.channel = channel;
		this.name = channel.name;
		this.onDidChangeLogLevel = (listener, self, disposables) =>
			vscode.workspace.onDidChangeConfiguration(
				(event) => {
					if (event.affectsConfiguration(`${ID}.trace`)) {
						listener.call(self, this.logLevel);
					}
				},
				undefined,
				disposables,
			);
	}

	get logLevel(): vscode.LogLevel {
		const value = vscode.workspace.getConfiguration(ID).get("trace.server");
		return value === "messages" || value === "verbose" ? vscode.LogLevel.Trace : vscode.LogLevel.Info;
	}

	trace(message: string): void {
		this.channel.appendLine(message);
	}

	debug(message: string): void {
		this.channel.appendLine(message);
	}

	info(message: string): void {
		this.channel.appendLine(message);
	}

	warn(message: string): void {
		this.channel.appendLine(message);
	}

	error(message: string | Error): void {
		this.channel.appendLine(String(message));
	}

	append(value: string): void {
		this.channel.append(value);
	}

	appendLine(value: string): void {
		this.channel.appendLine(value);
	}

	replace(value: string): void {
		this.channel.replace(value);
	}

	clear(): void {
		this.channel.clear();
	}

	show(): void {
		this.channel.show();
	}

	hide(): void {
		this.channel.hide();
	}

	/** The channel belongs to who made it. */
	dispose(): void {}
}
