// What explains a finding: the page of its rule, its chain as a list or as a picture, offered where it is shown.
import * as vscode from "vscode";
import { type Chain, ICONS, LABELS, type Step } from "../chain";
import { COMMANDS, ID, METHODS, SCHEME } from "../names";
import { ChainPanel } from "./chainPanel";
import type { Client } from "./client";
import type { Messages } from "./messages";
import { choosePlace } from "./places";
import type { Session } from "./session";

const NOTHING_HERE = "There is no finding here: put the cursor on one.";

/** Register the commands. */
export function registerExplanations(session: Session, messages: Messages): vscode.Disposable {
	const panel = new ChainPanel();
	const withChain =
		(show: (chain: Chain, client: Client) => Promise<void>) =>
		async (...args: unknown[]) => {
			const [client, place] = [session.client, placeOf(args)];
			const chain = client && place && (await chainAt(client, place.uri, place.position));
			if (!client || !place || !chain) {
				await messages.answer(client === undefined ? "The server of nonstrict is not running." : NOTHING_HERE);
				return;
			}
			await show(chain, client);
		};
	return vscode.Disposable.from(
		panel,
		vscode.commands.registerCommand(COMMANDS.explainRule, async (given?: unknown) => {
			const code = typeof given === "string" ? given : await chosenCode();
			if (code === undefined) {
				await messages.answer(NOTHING_HERE);
				return;
			}
			await vscode.commands.executeCommand(
				"markdown.showPreview",
				vscode.Uri.from({ scheme: SCHEME, path: `/rule/${code}.md` }),
			);
		}),
		vscode.commands.registerCommand(COMMANDS.showChain, withChain(peek)),
		vscode.commands.registerCommand(
			COMMANDS.showChainPicture,
			withChain(async (chain, client) => panel.show(chain, (step) => open(step, client))),
		),
	);
}

/** The chain of the finding at a position. */
async function chainAt(client: Client, uri: vscode.Uri, position: vscode.Position): Promise<Chain | undefined> {
	const parameters = {
		uri: client.code2ProtocolConverter.asUri(uri),
		position: client.code2ProtocolConverter.asPosition(position),
	};
	return (await client.sendRequest<Chain | null>(METHODS.chain, parameters).catch(() => null)) ?? undefined;
}

/** The chain as a list in its order; the peek view of the editor would sort its places by their files. */
async function peek(chain: Chain, client: Client): Promise<void> {
	const places = chain.steps.map((step) => {
		return {
			...step,
			label: step.text,
			detail: `${LABELS[step.kind]}: ${step.code}`,
			icon: new vscode.ThemeIcon(ICONS[step.kind]),
		};
	});
	await choosePlace(`Call chain of ${chain.code}`, places, client);
}

async function open(step: Step, client: Client): Promise<void> {
	const { uri, range } = locationOf(step, client);
	const column = vscode.window.visibleTextEditors.find((editor) => editor.document.uri.scheme === "file")?.viewColumn;
	await vscode.window.showTextDocument(uri, { selection: range, viewColumn: column ?? vscode.ViewColumn.One });
}

function locationOf(step: Step, client: Client): vscode.Location {
	const converter = client.protocol2CodeConverter;
	return new vscode.Location(converter.asUri(step.uri), converter.asRange(step.range));
}

/** The place that a command was given, else that of the cursor, or of the finding in its line. */
function placeOf(args: readonly unknown[]): { uri: vscode.Uri; position: vscode.Position } | undefined {
	const [uri, line, character] = args;
	if (typeof uri === "string" && typeof line === "number" && typeof character === "number") {
		return { uri: vscode.Uri.parse(uri), position: new vscode.Position(line, character) };
	}
	const editor = vscode.window.activeTextEditor;
	if (editor === undefined) {
		return undefined;
	}
	const [nearest] = findingsAt(editor);
	return { uri: editor.document.uri, position: nearest?.range.start ?? editor.selection.active };
}

/** Our findings at the cursor, those of its line behind those that it is on. */
function findingsAt(editor: vscode.TextEditor): vscode.Diagnostic[] {
	const cursor = editor.selection.active;
	const ours = vscode.languages.getDiagnostics(editor.document.uri).filter(isOurs);
	const inLine = ours.filter(({ range }) => range.start.line <= cursor.line && range.end.line >= cursor.line);
	return inLine.sort((left, right) => Number(right.range.contains(cursor)) - Number(left.range.contains(cursor)));
}

/** The code of the finding at the cursor; if there are several, the one that the user chooses. */
async function chosenCode(): Promise<string | undefined> {
	const editor = vscode.window.activeTextEditor;
	const codes = [...new Set(editor === undefined ? [] : findingsAt(editor).map(codeOf))];
	return codes.length > 1 ? await vscode.window.showQuickPick(codes, { title: "Explain which rule?" }) : codes[0];
}

/** What is offered among the quick fixes to explain the findings there. */
export function explanations(
	document: vscode.TextDocument,
	{ only, diagnostics }: vscode.CodeActionContext,
): vscode.CodeAction[] {
	if (only !== undefined && !only.contains(vscode.CodeActionKind.QuickFix)) {
		return [];
	}
	const byRule = new Map(diagnostics.filter(isOurs).map((one) => [codeOf(one), one]));
	const ours = [...byRule.values()];
	const several = ours.length > 1;
	return ours.flatMap((one) => offers(document, one, several));
}

function offers(document: vscode.TextDocument, diagnostic: vscode.Diagnostic, several: boolean): vscode.CodeAction[] {
	const code = codeOf(diagnostic);
	const { line, character } = diagnostic.range.start;
	const at = [document.uri.toString(), line, character];
	// As in the titles of the server.
	const rule = several ? `${code}: ` : "";
	const offered = [action(diagnostic, `Explain ${code}`, COMMANDS.explainRule, [code])];
	if ((diagnostic.relatedInformation ?? []).length > 0) {
		offered.push(action(diagnostic, `${rule}Peek at the call chain`, COMMANDS.showChain, at));
		offered.push(action(diagnostic, `${rule}Draw the call chain`, COMMANDS.showChainPicture, at));
	}
	return offered;
}

function action(diagnostic: vscode.Diagnostic, title: string, command: string, args: unknown[]): vscode.CodeAction {
	const made = new vscode.CodeAction(title, vscode.CodeActionKind.QuickFix);
	made.command = { title, command, arguments: args };
	made.diagnostics = [diagnostic];
	return made;
}

function isOurs(diagnostic: vscode.Diagnostic): boolean {
	return diagnostic.source === ID;
}

function codeOf({ code }: vscode.Diagnostic): string {
	return String(typeof code === "object" ? code.value : code);
}
