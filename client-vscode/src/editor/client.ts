// The language client: what it tells the server of itself, and what it does otherwise than the library would.
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import * as vscode from "vscode";
import {
	CloseAction,
	DocumentDiagnosticReportKind,
	type DynamicFeature,
	ErrorAction,
	ExecuteCommandRequest,
	LanguageClient,
	type LanguageClientOptions,
	type Middleware,
	State,
	type StaticFeature,
} from "vscode-languageclient/node";
import { Crashes } from "../crashes";
import type { CommandLine } from "../launch";
import { Levels } from "../logLine";
import { DISPLAY_NAME, ID, SCHEME, SUPPRESS } from "../names";
import type { Status } from "../verdicts";
import { drawsVerdicts } from "./configuration";
import { explanations } from "./explain";
import { TraceChannel } from "./trace";

/** Documents of other schemes, such as earlier revisions of a file, are none of the workspace's. */
const SCHEMES = ["file", "untitled", "vscode-notebook-cell"];
const LANGUAGES = ["python", "markdown", "restructuredtext"];

/** What the client needs to know and to tell. */
export interface Surroundings {
	readonly log: vscode.LogOutputChannel;
	readonly trace: vscode.OutputChannel;
	/** The directory that the server starts in. */
	readonly directory: string | undefined;
	/** The interpreter that the user chose for a folder outside the settings. */
	chosenInterpreter(folder: vscode.WorkspaceFolder | undefined): string | undefined;
	/** Show a document that the server made. */
	showDocument(uri: vscode.Uri): Promise<void>;
	/** The server ended too often. */
	gaveUp(times: number): void;
}

/** A client that leaves commands, messages about its own life and documents of the server to the extension. */
export class Client extends LanguageClient {
	private readonly life: Life;

	constructor(server: CommandLine, surroundings: Surroundings) {
		const { directory } = surroundings;
		const options = directory === undefined ? {} : { options: { cwd: directory } };
		const life: Life = { began: false, line: "" };
		super(
			ID,
			DISPLAY_NAME,
			{ command: server.command, args: [...server.args], ...options },
			clientOptions(surroundings, life),
		);
		this.life = life;
		this.registerFeature(new Announcement());
		this.onDidChangeState(({ newState }) => {
			life.began ||= newState === State.Running;
		});
	}

	/** What the server wrote to standard error last: in the end, why it ended. */
	get lastWords(): string {
		return this.life.line;
	}

	/** Commands are registered by the extension, which knows what they are about when nothing is said. */
	override registerFeature(feature: StaticFeature | DynamicFeature<unknown>): void {
		const method = "registrationType" in feature ? feature.registrationType.method : "";
		if (method !== ExecuteCommandRequest.method) {
			super.registerFeature(feature);
		}
	}

	/** The extension tells of what goes wrong, once and in its own words. */
	override error(message: string, data?: unknown): void {
		super.error(message, data, false);
	}

	/** Run a command of the server. Rejects if it fails; the server has told the user why. */
	run(command: string, args: unknown[], token?: vscode.CancellationToken): Promise<unknown> {
		return this.sendRequest(ExecuteCommandRequest.type, { command, arguments: args }, token);
	}
}

/** Tells the server that the status item wants to hear of experiments, the tree of compiled regions, and the editor verdicts. */
class Announcement implements StaticFeature {
	fillClientCapabilities(capabilities: { experimental?: unknown }): void {
		capabilities.experimental = { nonstrictStatus: true, nonstrictRegions: true, nonstrictVerdicts: true };
	}

	initialize(): void {}

	getState(): { kind: "static" } {
		return { kind: "static" };
	}

	clear(): void {}
}

/** Whether the server ever answered, and its last line on standard error. */
interface Life {
	began: boolean;
	line: string;
}

function clientOptions(surroundings: Surroundings, life: Life): LanguageClientOptions {
	const crashes = new Crashes();
	const levels = new Levels();
	const write = (input: Readable, heard: (line: string) => void) => {
		createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY }).on("line", heard);
	};
	return {
		documentSelector: LANGUAGES.flatMap((language) => SCHEMES.map((scheme) => ({ scheme, language }))),
		outputChannel: surroundings.log,
		traceOutputChannel: new TraceChannel(surroundings.trace),
		initializationOptions: () => ({ settings: initialSettings(surroundings) }),
		initializationFailedHandler: () => false,
		stdioOptions: {
			stdout: (input) => write(input, (line) => surroundings.log.info(line)),
			stderr: (input) =>
				write(input, (line) => {
					life.line = line.trim() || life.line;
					surroundings.log[levels.of(line)](line);
				}),
		},
		errorHandler: {
			error: () => ({ action: ErrorAction.Continue, handled: true }),
			closed: () => {
				if (!life.began) {
					// Whoever started it is told.
					return { action: CloseAction.DoNotRestart, handled: true };
				}
				const again = crashes.another();
				if (!again) {
					surroundings.gaveUp(crashes.count);
				}
				return { action: again ? CloseAction.Restart : CloseAction.DoNotRestart, handled: true };
			},
		},
		middleware: middleware(surroundings),
	};
}

function middleware(surroundings: Surroundings): Middleware {
	return {
		workspace: {
			configuration: async (params, token, next) => {
				const answers = await next(params, token);
				if (!Array.isArray(answers)) {
					return answers;
				}
				return answers.map((answer: unknown, index) => {
					const item = params.items[index];
					const uri = item?.scopeUri === undefined ? undefined : vscode.Uri.parse(item.scopeUri);
					return item?.section === ID ? withInterpreter(answer, folderOf(uri), surroundings) : answer;
				});
			},
		},
		window: {
			showDocument: async (params, token, next) => {
				const uri = vscode.Uri.parse(params.uri);
				if (uri.scheme !== SCHEME) {
					return next(params, token);
				}
				await surroundings.showDocument(uri);
				return { success: true };
			},
		},
		provideDiagnostics: async (document, previous, token, next) => {
			const uri = document instanceof vscode.Uri ? document : document.uri;
			if (!SCHEMES.includes(uri.scheme)) {
				return undefined;
			}
			const report = await next(document, previous, token);
			if (report?.kind === DocumentDiagnosticReportKind.Full && drawsVerdicts(uri)) {
				fade(report.items);
			}
			return report;
		},
		provideWorkspaceDiagnostics: (previous, token, report, next) =>
			next(previous, token, (chunk) => {
				for (const one of chunk?.items ?? []) {
					if (one.kind === DocumentDiagnosticReportKind.Full && drawsVerdicts(one.uri)) {
						fade(one.items);
					}
				}
				report(chunk);
			}),
		provideCodeActions: async (document, range, context, token, next) => {
			const offered = (await next(document, range, context, token)) ?? [];
			return withExplanations(offered, explanations(document, context));
		},
	};
}

/**
 * What is refuted is drawn as a hint, with dots: no decoration changes a squiggle, and code that runs is not greyed out.
 * The mark and the text of the verdict say what it is.
 */
function fade(diagnostics: readonly vscode.Diagnostic[]): void {
	for (const one of diagnostics as readonly (vscode.Diagnostic & { data?: { verdict?: Status } })[]) {
		if (one.data?.verdict === "refuted") {
			one.severity = vscode.DiagnosticSeverity.Hint;
		}
	}
}

/** What the server offers with what explains a finding, which comes before what suppresses it. */
function withExplanations(
	offered: readonly (vscode.Command | vscode.CodeAction)[],
	explaining: readonly vscode.CodeAction[],
): (vscode.Command | vscode.CodeAction)[] {
	const suppresses = (one: vscode.Command | vscode.CodeAction) =>
		"kind" in one && one.kind !== undefined && vscode.CodeActionKind.QuickFix.append(SUPPRESS).contains(one.kind);
	const last = offered.filter(suppresses);
	return [...offered.filter((one) => !suppresses(one)), ...explaining, ...last];
}

/** The settings that the server begins with, before it asks for those of each folder. */
function initialSettings(surroundings: Surroundings): unknown {
	const folder = vscode.workspace.workspaceFolders?.[0];
	const settings = JSON.parse(JSON.stringify(vscode.workspace.getConfiguration(ID, folder)));
	return withInterpreter(settings, folder, surroundings);
}

/** Settings with the interpreter of a Python extension, where the settings name none. */
function withInterpreter(
	settings: unknown,
	folder: vscode.WorkspaceFolder | undefined,
	surroundings: Surroundings,
): unknown {
	const chosen = surroundings.chosenInterpreter(folder);
	const table = (settings ?? {}) as { interpreter?: readonly string[] };
	return chosen === undefined || (table.interpreter ?? []).length > 0 ? settings : { ...table, interpreter: [chosen] };
}

function folderOf(uri: vscode.Uri | undefined): vscode.WorkspaceFolder | undefined {
	return uri === undefined ? vscode.workspace.workspaceFolders?.[0] : vscode.workspace.getWorkspaceFolder(uri);
}
