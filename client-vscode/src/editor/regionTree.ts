// The view "Compiled Regions": what is compiled in the workspace, unfolded to graphs, breaks and marked functions.
import * as vscode from "vscode";
import { COMMANDS, METHODS, REGIONS_VIEW } from "../names";
import { identified, type Node, rowOf } from "../regionMap";
import type { Client } from "./client";
import type { Session } from "./session";

/** Changes that follow each other within this time are one (ms). */
const PAUSE = 400;
const LANGUAGES = ["python", "markdown", "restructuredtext"];

/** Asks the server for the tree while somebody sees it. */
export class RegionTree implements vscode.TreeDataProvider<Node>, vscode.Disposable {
	private readonly changes = new vscode.EventEmitter<undefined>();
	private readonly view: vscode.TreeView<Node>;
	private readonly disposables: vscode.Disposable;
	private names = new Map<Node, string>();
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
		const nodes = (await this.session.client?.sendRequest<Node[]>(METHODS.regions, {}).catch(() => [])) ?? [];
		this.names = identified(nodes);
		return nodes;
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

/** A click goes to the place in the code. */
function opening(node: Node, client: Client): vscode.Command {
	const converter = client.protocol2CodeConverter;
	const { start } = converter.asRange(node.range);
	const options: vscode.TextDocumentShowOptions = { selection: new vscode.Range(start, start) };
	return { command: "vscode.open", title: "Open", arguments: [converter.asUri(node.uri), options] };
}
