// Elements of a page, with as little ado as possible.

type Attributes = Record<string, string | boolean | EventListener | undefined>;

/** An element: attributes by name, listeners as `onclick`; what is undefined or false is left out. */
export function element<Tag extends keyof HTMLElementTagNameMap>(
	tag: Tag,
	attributes: Attributes = {},
	...children: (Node | string)[]
): HTMLElementTagNameMap[Tag] {
	const made = document.createElement(tag);
	for (const [name, value] of Object.entries(attributes)) {
		if (typeof value === "function") {
			made.addEventListener(name.slice(2), value);
		} else if (typeof value === "string") {
			made.setAttribute(name, value);
		} else if (value) {
			made.setAttribute(name, "");
		}
	}
	made.append(...children);
	return made;
}

const WORDS = /`([^`]+)`|(https:\/\/[^\s,;)]+)/g;

/** A message of the engine: what stands in backticks as code, addresses as links. */
export function prose(text: string): DocumentFragment {
	const made = document.createDocumentFragment();
	let end = 0;
	for (const found of text.matchAll(WORDS)) {
		const [whole, code, address] = found;
		made.append(text.slice(end, found.index));
		made.append(code !== undefined ? element("code", {}, code) : link(address ?? "", address ?? ""));
		end = found.index + whole.length;
	}
	made.append(text.slice(end));
	return made;
}

export function link(address: string, ...children: (Node | string)[]): HTMLAnchorElement {
	return element("a", { href: address, target: "_blank", rel: "noopener" }, ...children);
}

export function plural(count: number, noun: string): string {
	return `${count} ${noun}${count === 1 ? "" : "s"}`;
}
