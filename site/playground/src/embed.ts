// What a page loads: opens its playgrounds, and offers to try the examples of rule pages. All that is large comes later.

/** A place that is to hold a playground. */
const PLAYGROUND = ".nonstrict-playground";
/** A Python block as mkdocs-material makes it of a fence. */
const BLOCK = ".language-python.highlight";
/** The pages whose examples can be tried, and any block that asks for it. */
const RULE_PAGE = /\/rules\/[^/]+/;
const WANTED = ".nonstrict-try";
const STYLE = `
.nonstrict-try-row:not([hidden]) { display: flex; justify-content: flex-end; margin: -0.6em 0 1em; }
.nonstrict-try-button {
	font: inherit; font-size: 0.85em; line-height: 1.4; padding: 0.25em 0.9em; cursor: pointer; border-radius: 0.3em;
	border: 1px solid currentcolor; background: transparent; color: inherit;
}
.nonstrict-try-button:hover { text-decoration: underline; }
.nonstrict-example { margin: 1em 0; }
`;

interface MaterialWindow extends Window {
	/** Emits each page that mkdocs-material shows without loading it. */
	document$?: { subscribe(next: () => void): void };
}

const seen = new WeakSet<Element>();

function upgrade(): void {
	for (const host of document.querySelectorAll<HTMLElement>(PLAYGROUND)) {
		if (isNew(host)) {
			import("./playground").then(({ openFull }) => openFull(host));
		}
	}
	const wanted = RULE_PAGE.test(location.pathname) ? BLOCK : `${WANTED} ${BLOCK}, ${WANTED}${BLOCK}`;
	for (const block of document.querySelectorAll<HTMLElement>(wanted)) {
		if (isNew(block)) {
			offer(block);
		}
	}
}

function isNew(element: Element): boolean {
	const known = seen.has(element);
	seen.add(element);
	return !known;
}

/** Puts a button below a block, which puts an editor in its place. */
function offer(block: HTMLElement): void {
	const code = block.querySelector("code")?.textContent ?? "";
	const row = document.createElement("div");
	row.className = "nonstrict-try-row";
	const button = document.createElement("button");
	button.type = "button";
	button.className = "nonstrict-try-button";
	button.textContent = "Try it";
	button.title = "Edit this example, with findings as you type";
	row.append(button);
	block.after(row);
	button.addEventListener("click", async () => {
		button.disabled = true;
		const { openInline } = await import("./playground");
		const host = document.createElement("div");
		host.className = "nonstrict-example";
		row.after(host);
		block.hidden = true;
		row.hidden = true;
		openInline(host, code, () => {
			host.remove();
			block.hidden = false;
			row.hidden = false;
			button.disabled = false;
			button.focus();
		});
	});
}

function addStyle(): void {
	const sheet = new CSSStyleSheet();
	sheet.replaceSync(STYLE);
	document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
}

addStyle();
const pages = (window as MaterialWindow).document$;
if (pages) {
	pages.subscribe(upgrade);
} else if (document.readyState === "loading") {
	document.addEventListener("DOMContentLoaded", upgrade);
} else {
	upgrade();
}
