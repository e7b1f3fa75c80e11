// Two or more panels of which one is shown: arrow keys go from tab to tab, as WAI-ARIA describes it.

import { element } from "./dom";

interface Tab {
	button: HTMLButtonElement;
	count: HTMLElement;
	panel: HTMLElement;
}

export class Tabs {
	readonly list: HTMLElement;
	readonly panels: HTMLElement[];
	private readonly tabs: Tab[];

	constructor(label: string, titles: readonly string[]) {
		this.tabs = titles.map((title, index) => this.made(title, index));
		this.list = element("div", { role: "tablist", "aria-label": label }, ...this.tabs.map((tab) => tab.button));
		this.list.addEventListener("keydown", (event) => this.move(event));
		this.panels = this.tabs.map((tab) => tab.panel);
		this.choose(0);
	}

	/** Fill a panel, and say at its tab how many things it holds. */
	fill(index: number, count: number | null, ...content: Node[]): void {
		const tab = this.tabs[index];
		if (tab) {
			tab.panel.replaceChildren(...content);
			tab.count.textContent = count === null ? "" : String(count);
		}
	}

	private made(title: string, index: number): Tab {
		const count = element("span", { class: "count" });
		const button = element(
			"button",
			{
				type: "button",
				role: "tab",
				id: `tab-${index}`,
				"aria-controls": `panel-${index}`,
				onclick: () => this.choose(index),
			},
			`${title} `,
			count,
		);
		const panel = element("div", {
			role: "tabpanel",
			id: `panel-${index}`,
			"aria-labelledby": `tab-${index}`,
			tabindex: "0",
		});
		return { button, count, panel };
	}

	private choose(chosen: number): void {
		for (const [index, { button, panel }] of this.tabs.entries()) {
			button.setAttribute("aria-selected", String(index === chosen));
			button.tabIndex = index === chosen ? 0 : -1;
			panel.hidden = index !== chosen;
		}
	}

	private move(event: KeyboardEvent): void {
		const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
		const at = this.tabs.findIndex((tab) => tab.button === event.target);
		if (step !== undefined && at >= 0) {
			const next = (at + step + this.tabs.length) % this.tabs.length;
			this.choose(next);
			this.tabs[next]?.button.focus();
			event.preventDefault();
		}
	}
}
