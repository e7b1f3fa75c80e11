// A playground: an editor, what the engine finds in its text, and what the text compiles.

import type { EditorView } from "@codemirror/view";
import { element, plural } from "./dom";
import { apply, editor, goTo, replace, show } from "./editor";
import { Engine, type Listener, type State } from "./engine";
import { exampleGroups, FIRST, find, type Group } from "./examples";
import { type Fixer, listed } from "./findings";
import { beside, playgroundAddress } from "./places";
import type { Checked, Finding, Fix, Place, Severity } from "./records";
import { compiled } from "./regions";
import { watchScheme } from "./scheme";
import { fragmentOf, LIMIT, LinkError, sharedIn } from "./share";
import { STYLE } from "./style";
import { Tabs } from "./tabs";

/** What a pause in typing is, in milliseconds. */
const PAUSE = 20;
const SEVERITIES: readonly Severity[] = ["error", "warning", "note"];
const KEYS = "Tab leaves the editor. Control or Command with a bracket indents. F8 goes to the next finding.";
const PROMISE = "Your program stays in this browser: it is analyzed here and never run.";
const NOTHING_COMPILED = "This program compiles nothing: it applies no torch.compile that could be found.";
const FINDINGS = 0;
const COMPILED = 1;

let engine: Engine | null = null;
let count = 0;

/** One worker serves all playgrounds of a page. */
function shared(): Engine {
	engine ??= new Engine(() => new Worker(beside(BUILT.worker), { type: "module", name: "nonstrict" }));
	return engine;
}

/** A playground of its own: with examples, and a program from the address or else the first example. */
export async function openFull(host: HTMLElement): Promise<Playground> {
	const made = new Playground(host, "", "full");
	// A link that is pasted while the page is open.
	window.addEventListener("hashchange", () => made.open(location.hash));
	await made.begin(location.hash, host.dataset.example ?? FIRST);
	return made;
}

/** An example of a page in place of its block; `closed` is called when people have the block back. */
export function openInline(host: HTMLElement, code: string, closed: () => void): Playground {
	const made = new Playground(host, code, "inline", closed);
	made.focus();
	return made;
}

class Playground implements Listener {
	private readonly name = `program-${++count}`;
	private readonly root: ShadowRoot;
	private readonly view: EditorView;
	private readonly tabs = new Tabs("Results", ["Findings", "What is compiled"]);
	private readonly panel = element("div", { class: "panel", "aria-busy": "true" }, this.tabs.list, ...this.tabs.panels);
	private readonly status = element("p", { class: "status", role: "status" });
	private readonly time = element("p", { class: "time", "aria-hidden": "true" });
	private readonly notice = element("p", { class: "notice", role: "alert", hidden: true });
	private readonly torch = chooser(
		BUILT.torches.map((release) => [release, `torch ${release}`]),
		"Release of torch",
	);
	private readonly examples = element(
		"select",
		{ "aria-label": "Examples" },
		element("option", { value: "" }, "Examples"),
	);
	private readonly unwatch: () => void;
	private timer = 0;
	private asked = 0;
	/** The text that the findings on screen belong to. */
	private painted: string | null = null;
	private groups: Group[] = [];
	/** The number of the latest link. */
	private link = 0;
	/** Whether a program came from a link. */
	private linked = false;

	constructor(
		host: HTMLElement,
		private readonly first: string,
		kind: "full" | "inline",
		private readonly closed: () => void = () => undefined,
	) {
		const root = host.shadowRoot ?? host.attachShadow({ mode: "open" });
		this.root = root;
		const sheet = new CSSStyleSheet();
		sheet.replaceSync(STYLE);
		root.adoptedStyleSheets = [sheet];
		const writing = element("div", { class: "editor" });
		const bar = element(
			"div",
			{ class: "bar" },
			...(kind === "full" ? this.fullBar() : this.inlineBar()),
			this.status,
			this.time,
		);
		const keys = element("p", { id: "keys", class: "hidden" }, KEYS);
		const promise = element("p", { class: "promise" }, PROMISE);
		const frame = element(
			"section",
			{ class: `playground ${kind}`, "aria-label": "nonstrict playground" },
			bar,
			this.notice,
			element("div", { class: "body" }, writing, this.panel),
			promise,
			keys,
		);
		root.replaceChildren(frame);
		this.unwatch = watchScheme((scheme) => {
			frame.dataset.scheme = scheme;
		});
		this.view = editor(first, root, writing, "Python program", () => this.edited());
		this.torch.addEventListener("change", () => this.edited());
		shared().open(this.name, this);
		if (kind === "inline") {
			this.check();
		}
	}

	/** Show the program of the address, or an example if nothing else came while it was loaded. */
	async begin(fragment: string, example: string): Promise<void> {
		await this.open(fragment);
		try {
			this.fillExamples(await exampleGroups());
		} catch (error) {
			this.warn(String(error));
		}
		if (!this.linked && this.text() === "") {
			this.show(find(this.groups, example)?.code ?? "");
			this.examples.value = example;
		}
	}

	/** Show the program of an address, if it holds one; of two links, the later one counts. */
	async open(fragment: string): Promise<void> {
		const link = ++this.link;
		this.warn("");
		try {
			const given = await sharedIn(fragment);
			if (given && link === this.link) {
				this.linked = true;
				this.examples.value = "";
				// A link without a release means the default, whatever was chosen before.
				this.torch.value = BUILT.torches.find((release) => release === given.torch) ?? BUILT.torches[0] ?? "";
				this.show(given.code);
			}
		} catch (error) {
			if (link === this.link) {
				this.warn(error instanceof LinkError ? error.message : String(error));
			}
		}
	}

	focus(): void {
		this.view.focus();
	}

	/** Give the page back what was there before. */
	private close(): void {
		clearTimeout(this.timer);
		this.unwatch();
		shared().close(this.name);
		this.view.destroy();
		this.closed();
	}

	// -- what the engine says -------------------------------------------------------------------------------------------

	state(state: State): void {
		// Where nothing is waited for, what is shown still holds, though the engine may be started again.
		if (state.kind === "ready" && this.waits()) {
			this.asked = performance.now(); // loading took its time, and is over
			this.say("Checking");
		} else if (state.kind === "failed" || (state.kind === "loading" && this.waits())) {
			this.tabs.fill(FINDINGS, null, state.kind === "loading" ? loading(state) : failed(state.reason));
			this.tabs.fill(COMPILED, null);
			this.say(state.kind === "loading" ? "Loading" : "Not loaded");
		}
	}

	checked(result: Checked, text: string): void {
		if (text !== this.text()) {
			return; // the answer for what is there now is on its way
		}
		this.paint(result.findings);
		const { regions } = result;
		const shown =
			regions.length > 0 ? compiled(regions, this.go) : element("p", { class: "nothing" }, NOTHING_COMPILED);
		this.tabs.fill(COMPILED, regions.length, shown);
		this.say(counted(result.findings), `in ${Math.round(performance.now() - this.asked)} ms`);
	}

	fixed(findings: Finding[], text: string): void {
		if (text === this.text()) {
			this.paint(findings);
		}
	}

	gaveUp(why: "stopped" | "slow", text: string): void {
		if (text === this.text()) {
			this.paint([fault(why)]);
			this.tabs.fill(COMPILED, null);
			this.say(counted([fault(why)]));
		}
	}

	private paint(findings: readonly Finding[]): void {
		this.painted = this.text();
		this.waiting(false);
		show(this.view, findings, this.fixer);
		const shown =
			findings.length > 0
				? listed(findings, this.fixer, this.go)
				: element("p", { class: "nothing" }, "Nothing found.");
		this.tabs.fill(FINDINGS, findings.length, shown);
	}

	// -- what people do -------------------------------------------------------------------------------------------------

	private edited(): void {
		clearTimeout(this.timer);
		this.asked = performance.now();
		this.waiting(true);
		this.timer = window.setTimeout(() => this.check(), PAUSE);
	}

	private check(): void {
		clearTimeout(this.timer);
		const text = this.text();
		if (text.length > LIMIT) {
			this.tabs.fill(FINDINGS, null, element("p", { class: "nothing" }, tooLong(text)));
			this.tabs.fill(COMPILED, null);
			show(this.view, [], this.fixer);
			this.say("Not checked");
			this.waiting(false);
			return;
		}
		shared().check(this.name, this.torch.value, text);
	}

	/** Whether what is shown is of an earlier text; its fixes are of no use then. */
	private waiting(waits: boolean): void {
		this.panel.setAttribute("aria-busy", String(waits));
		for (const button of this.root.querySelectorAll<HTMLButtonElement>("button.fix")) {
			button.disabled = waits;
		}
	}

	private waits(): boolean {
		return this.panel.getAttribute("aria-busy") === "true";
	}

	private readonly fixer: Fixer = {
		ready: () => !this.waits() && this.painted === this.text(),
		apply: (fix: Fix) => {
			if (this.fixer.ready()) {
				apply(this.view, fix);
				this.view.focus();
			}
		},
	};

	private readonly go = (place: Place): void => goTo(this.view, place);

	private show(code: string): void {
		this.edited();
		replace(this.view, code);
	}

	private async share(): Promise<void> {
		const address = new URL(playgroundAddress());
		address.hash = await fragmentOf({ code: this.text(), torch: this.chosenTorch() });
		history.replaceState(history.state, "", address.hash);
		try {
			await navigator.clipboard.writeText(address.href);
			this.say("Link copied");
		} catch {
			this.say("The link is in the address bar");
		}
	}

	/** Opens the text as it is now where there is more room. */
	private async enlarge(event: Event): Promise<void> {
		event.preventDefault();
		const opened = window.open("", "_blank");
		const address = new URL(playgroundAddress());
		address.hash = await fragmentOf({ code: this.text(), torch: this.chosenTorch() });
		if (opened) {
			opened.opener = null;
			opened.location.replace(address);
		} else {
			location.assign(address);
		}
	}

	private chosenTorch(): string | null {
		return this.torch.value === BUILT.torches[0] ? null : this.torch.value;
	}

	// -- the parts ------------------------------------------------------------------------------------------------------

	private fullBar(): Node[] {
		this.examples.addEventListener("change", () => {
			const chosen = find(this.groups, this.examples.value);
			if (chosen) {
				this.warn("");
				this.show(chosen.code);
			}
		});
		return [this.examples, this.torch, button("Share", "Copy a link to this program", () => this.share())];
	}

	private inlineBar(): Node[] {
		return [
			this.torch,
			button("Reset", "Have the example as it was", () => replace(this.view, this.first)),
			button("Close", "Close the editor", () => this.close()),
			element("a", { href: playgroundAddress(), onclick: (event) => this.enlarge(event) }, "Open in the playground"),
		];
	}

	private fillExamples(groups: Group[]): void {
		this.groups = groups;
		for (const group of groups) {
			const options = group.examples.map((one) => element("option", { value: one.name }, one.title));
			this.examples.append(element("optgroup", { label: group.title }, ...options));
		}
	}

	private text(): string {
		return this.view.state.doc.toString();
	}

	/** Tell how things stand; readers of the screen hear of it, but not of the time. */
	private say(text: string, time = ""): void {
		if (this.status.firstChild?.textContent !== text) {
			this.status.replaceChildren(element("span", {}, text));
		}
		this.time.textContent = time;
	}

	/** Tell what went wrong; "" takes it back. */
	private warn(text: string): void {
		this.notice.textContent = text;
		this.notice.hidden = text === "";
	}
}

function button(title: string, meaning: string, pressed: () => unknown): HTMLButtonElement {
	return element("button", { type: "button", title: meaning, onclick: () => pressed() }, title);
}

function chooser(options: readonly (readonly [string, string])[], label: string): HTMLSelectElement {
	const made = options.map(([value, title]) => element("option", { value }, title));
	return element("select", { "aria-label": label }, ...made);
}

function loading({ what, done, total }: Extract<State, { kind: "loading" }>): HTMLElement {
	const megabytes = (bytes: number) => (bytes / 1e6).toFixed(1);
	const size = total > 0 ? `: ${megabytes(done)} of ${megabytes(total)} MB` : "";
	const comes = `Loading ${what || "the engine"}${size}`;
	const here = `Starting ${what}: ${megabytes(total)} MB are loaded`;
	return element(
		"div",
		{ class: "nothing" },
		element("p", {}, total > 0 && done >= total ? here : comes),
		element("progress", { "aria-label": "Loading", max: String(total || 1), value: String(done) }),
		element("p", { class: "more" }, "Your browser keeps the files for the next visit."),
	);
}

function failed(reason: string): HTMLElement {
	return element(
		"div",
		{ class: "nothing" },
		element("p", {}, "The engine cannot be loaded."),
		element("p", { class: "more" }, reason),
		button("Try again", "Load the engine again", () => shared().retry()),
	);
}

function counted(findings: readonly Finding[]): string {
	const counts = SEVERITIES.map(
		(severity) => [findings.filter((one) => one.severity === severity).length, severity] as const,
	);
	const told = counts.filter(([number]) => number > 0).map(([number, severity]) => plural(number, severity));
	return told.join(", ") || "Nothing found";
}

function tooLong(text: string): string {
	const many = (number: number) => number.toLocaleString("en");
	return `The program has ${many(text.length)} characters. The playground analyzes at most ${many(LIMIT)}.`;
}

/** What is reported where the engine itself ended: it cannot say so any more. */
function fault(why: "stopped" | "slow"): Finding {
	const start = { row: 1, column: 1 };
	return {
		code: "NST904",
		name: "internal-fault",
		severity: "error",
		message:
			why === "slow"
				? "the file takes too long to be analyzed"
				: "the file is too large or nested too deeply for a browser",
		note: "the engine was started again; the next edit is analyzed as usual",
		help: "Split the expression or the chain of calls.",
		url: null,
		location: start,
		end_location: start,
		fixes: [],
		related: [],
		links: 0,
		fingerprint: "",
	};
}
