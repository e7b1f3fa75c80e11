// The Testing view: each marked function and compiled region is a test, which an experiment decides.
import * as vscode from "vscode";
import { byDocument, nameOf, type Trial, type Trialled, told } from "../experiments";
import { COMMANDS, DISPLAY_NAME, ID, METHODS } from "../names";
import type { Client } from "./client";
import { listsTests, TESTING_SETTING } from "./configuration";
import type { Session } from "./session";

/** Changes that follow each other within this time are one (ms). */
const PAUSE = 1000;

/** Lists the functions that can be tried, and tries them. */
export class Testing implements vscode.Disposable {
	private readonly controller = vscode.tests.createTestController(ID, DISPLAY_NAME);
	private readonly disposables: vscode.Disposable;
	private readonly trials = new Map<string, Trial>();
	private timer: NodeJS.Timeout | undefined;
	private asked = 0;

	constructor(private readonly session: Session) {
		const later = () => this.later();
		this.controller.refreshHandler = () => this.refresh();
		this.controller.createRunProfile(
			"Confirm",
			vscode.TestRunProfileKind.Run,
			(request, token) => this.run(request, token),
			true,
		);
		this.disposables = vscode.Disposable.from(
			this.controller,
			session.onPhase(later),
			session.onClient((client) => client.onNotification(METHODS.regionsChanged, later)),
			vscode.languages.onDidChangeDiagnostics(later),
			vscode.workspace.onDidChangeConfiguration((event) => event.affectsConfiguration(TESTING_SETTING) && later()),
		);
	}

	dispose(): void {
		clearTimeout(this.timer);
		this.disposables.dispose();
	}

	private later(): void {
		clearTimeout(this.timer);
		this.timer = setTimeout(() => void this.refresh(), PAUSE);
	}

	private async refresh(): Promise<void> {
		const client = listsTests() ? this.session.client : undefined;
		this.asked += 1;
		const number = this.asked;
		const found = await client?.sendRequest<Trial[]>(METHODS.tests, {}).catch(() => undefined);
		if (number !== this.asked) {
			return; // a newer answer is on its way
		}
		if (client === undefined || found === undefined) {
			this.controller.items.replace([]);
			return;
		}
		this.trials.clear();
		this.controller.items.replace(
			[...byDocument(found)].map(([uri, trials]) => {
				const place = client.protocol2CodeConverter.asUri(uri);
				const file = this.controller.createTestItem(uri, vscode.workspace.asRelativePath(place), place);
				file.children.replace(trials.map((trial) => this.itemOf(trial, client)));
				return file;
			}),
		);
	}

	private itemOf(trial: Trial, client: Client): vscode.TestItem {
		const converter = client.protocol2CodeConverter;
		const item = this.controller.createTestItem(nameOf(trial), trial.function, converter.asUri(trial.uri));
		item.description = trial.detail;
		item.range = converter.asRange(trial.range);
		this.trials.set(item.id, trial);
		return item;
	}

	/** One after the other: of two in a file the later one would end the earlier one. */
	private async run(request: vscode.TestRunRequest, token: vscode.CancellationToken): Promise<void> {
		const run = this.controller.createTestRun(request);
		const items = this.wanted(request);
		for (const item of items) {
			run.enqueued(item);
		}
		for (const item of items) {
			if (token.isCancellationRequested) {
				run.skipped(item);
			} else {
				await this.try(run, item, token);
			}
		}
		run.end();
	}

	private async try(run: vscode.TestRun, item: vscode.TestItem, token: vscode.CancellationToken): Promise<void> {
		const { client } = this.session;
		const trial = this.trials.get(item.id);
		if (client === undefined || trial === undefined) {
			run.skipped(item);
			return;
		}
		run.started(item);
		const begun = Date.now();
		const ended = token.onCancellationRequested(() =>
			client.run(COMMANDS.cancel, [trial.address]).catch(() => undefined),
		);
		const asked = { uri: trial.address, function: trial.function };
		try {
			const answer = await client.sendRequest<Trialled>(METHODS.test, asked);
			report(run, item, { trial, answer, taken: Date.now() - begun });
		} catch (error) {
			run.errored(item, new vscode.TestMessage(error instanceof Error ? error.message : String(error)));
		} finally {
			ended.dispose();
		}
	}

	/** The functions that somebody wants to try. */
	private wanted({ include, exclude }: vscode.TestRunRequest): vscode.TestItem[] {
		const all: vscode.TestItem[] = [];
		this.controller.items.forEach((item) => {
			all.push(item);
		});
		const leaves = (item: vscode.TestItem): vscode.TestItem[] => {
			const below: vscode.TestItem[] = [];
			item.children.forEach((child) => {
				below.push(child);
			});
			return below.length > 0 ? below : [item];
		};
		const without = new Set((exclude ?? []).flatMap(leaves));
		return [...new Set((include ?? all).flatMap(leaves))].filter((item) => !without.has(item));
	}
}

/** How a trial went, and how long it took (ms). */
interface Report {
	readonly trial: Trial;
	readonly answer: Trialled;
	readonly taken: number;
}

function report(run: vscode.TestRun, item: vscode.TestItem, { trial, answer, taken }: Report): void {
	switch (answer.outcome) {
		case "passed":
			run.passed(item, taken);
			break;
		case "failed":
			run.failed(
				item,
				// They stand at the function: where the finding is, its verdict is drawn already.
				answer.findings.map((finding) => new vscode.TestMessage(finding)),
				taken,
			);
			break;
		case "skipped":
			run.appendOutput(told(trial, answer), undefined, item);
			run.skipped(item);
	}
}
