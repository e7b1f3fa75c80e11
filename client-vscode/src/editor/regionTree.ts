// The view "Compiled Regions": what is compiled in the workspace, unfolded to graphs, breaks and marked functions.
import * as vscode from "vscode";
import { COMMANDS, CONTEXT, METHODS, REGIONS_VIEW } from "../names";
import { type Filter, filtered, identified, type Node, rowOf } from "../regionMap";
import type { Client } from "./client";
import type { Session } from "./session";

/** Changes that follow each other within this time are one (ms). */
const PAUSE = 400;
const LANGUAGES = ["python", "markdown", "restructuredtext"];
/** What the view says while a filter leaves nothing. */
const NOTHING: Readonly<Record<Filter, string>> = {
	all: "",
	confirmed: "No experiment has confirmed a finding. Confirm all regions, or show all.",
	observed: "No recorded run did what a finding says.",
};

/** Asks the server for the tree while somebody sees it. */
export class RegionTree implements vscode.TreeDataProvider<Node>, vscode.Disposable {
	private readonly changes = new vscode.EventEmitter<undefined>();
	private readonly view: vscode.TreeView<Node>;
	private readonly disposables: vscode.Disposable;
	private names = new Map<Node, string>();
	private nodes: readonly Node[] = [];
	private filter: Filter = "all";
	private stale = false;
	private timer: NodeJS.Timeout | undefined;

	readonly onDidChangeTreeData = this.changes.event;

	constructor(private readonly session: Session) {
		this.view = vscode.window.createTreeView(REGIONS_VIEW, { treeDataProvider: this, showCollapseAll: true });
		const later = () => this.later();
		this.disposables = vscode.Disposable.from(
			this.changes,
			this.view,
			this.view.onDidChangeVisibility(({ visible }) => visible && this.stale && this.refresh()),
			session.onPhase(later),
			session.onClient((client) => client.onNotification(METHODS.regionsChanged, later)),
			vscode.languages.onDidChangeDiagnostics(later),
			// What has no findings moves without a change of diagnostics.
			vscode.workspace.onDidChangeTextDocument(({ document }) => LANGUAGES.includes(document.languageId) && later()),
			vscode.commands.registerCommand(COMMANDS.refreshRegions, () => this.refresh()),
			vscode.commands.registerCommand(COMMANDS.showAllRegions, () => this.show("all")),
			vscode.commands.registerCommand(COMMANDS.showConfirmedRegions, () => this.show("confirmed")),
			vscode.commands.registerCommand(COMMANDS.showObservedRegions, () => this.show("observed")),
			vscode.commands.registerCommand(COMMANDS.confirmRegion, (node?: Node) => this.confirm(node)),
			vscode.commands.registerCommand(COMMANDS.confirmRegions, () => this.confirmAll()),
		);
	}

	dispose(): void {
		clearTimeout(this.timer);
		this.disposables.dispose();
	}

	async getChildren(node?: Node): Promise<Node[]> {
		return node === undefined ? this.load() : [...node.children];
	}

	getTreeItem(node: Node): vscode.TreeItem {
		const row = rowOf(node);
		const folded = node.kind === "region" ? "Collapsed" : "Expanded";
		const item = new vscode.TreeItem(
			node.text,
			vscode.TreeItemCollapsibleState[node.children.length > 0 ? folded : "None"],
		);
		const name = this.names.get(node);
		if (name !== undefined) {
			item.id = name;
		}
		item.description = row.description;
		item.tooltip = row.spoken;
		item.iconPath = new vscode.ThemeIcon(
			row.icon,
			row.color === undefined ? undefined : new vscode.ThemeColor(row.color),
		);
		item.contextValue = row.context;
		item.accessibilityInformation = { label: row.spoken };
		const { client } = this.session;
		if (client !== undefined) {
			item.command = opening(node, client);
		}
		return item;
	}

	private async load(): Promise<Node[]> {
		this.stale = false;
		this.nodes = (await this.session.client?.sendRequest<Node[]>(METHODS.regions, {}).catch(() => [])) ?? [];
		const shown = filtered(this.nodes, this.filter);
		this.names = identified(shown);
		// Without any region the view says what to do.
		this.view.message = shown.length === 0 && this.nodes.length > 0 ? NOTHING[this.filter] : "";
		return shown;
	}

	private async show(filter: Filter): Promise<void> {
		this.filter = filter;
		this.view.description = filter === "all" ? "" : filter;
		await vscode.commands.executeCommand("setContext", CONTEXT.regions, filter);
		this.changes.fire(undefined);
	}

	/** Confirm the region of a row, or of the chosen one: a key hands over no row. */
	private async confirm(node: Node | undefined): Promise<void> {
		const chosen = node ?? this.view.selection[0];
		const region = this.nodes.find((one) => one === chosen || holds(one, chosen));
		if (region?.confirm !== undefined) {
			await vscode.commands.executeCommand(COMMANDS.confirmFunction, ...region.confirm);
		}
	}

	/** Confirm all that is found in any region, file by file: of one file the server does what it was asked last. */
	private async confirmAll(): Promise<void> {
		await this.load();
		for (const document of new Set(this.nodes.flatMap(({ confirm }) => confirm?.[0] ?? []))) {
			await vscode.commands.executeCommand(COMMANDS.confirmFile, document);
		}
	}

	private later(): void {
		clearTimeout(this.timer);
		this.timer = setTimeout(() => this.refresh(), PAUSE);
	}

	private refresh(): void {
		this.stale = !this.view.visible;
		if (this.view.visible) {
			this.changes.fire(undefined);
		}
	}
}

/** Whether a row is a part of another one, of which a filter may have made a copy. */
function holds(node: Node, part: Node | undefined): boolean {
	const told = ({ kind, text, uri, range }: Node) => JSON.stringify([kind, text, uri, range]);
	return part !== undefined && (told(node) === told(part) || node.children.some((child) => holds(child, part)));
}

/** A click goes to the place in the code. */
function opening(node: Node, client: Client): vscode.Command {
	const converter = client.protocol2CodeConverter;
	const { start } = converter.asRange(node.range);
	const options: vscode.TextDocumentShowOptions = { selection: new vscode.Range(start, start) };
	return { command: "vscode.open", title: "Open", arguments: [converter.asUri(node.uri), options] };
}
