// Light and dark: as the page around says, or else the system.

type Scheme = "light" | "dark";
/** The attribute of mkdocs-material, and its dark scheme. */
const ATTRIBUTE = "data-md-color-scheme";
const DARK = "slate";

/** Calls back now and with every change; gives a function that ends it. */
export function watchScheme(changed: (scheme: Scheme) => void): () => void {
	const system = matchMedia("(prefers-color-scheme: dark)");
	const tell = () => {
		const chosen = document.body.getAttribute(ATTRIBUTE);
		const dark = chosen === null ? system.matches : chosen === DARK;
		changed(dark ? "dark" : "light");
	};
	const observer = new MutationObserver(tell);
	observer.observe(document.body, { attributes: true, attributeFilter: [ATTRIBUTE] });
	system.addEventListener("change", tell);
	tell();
	return () => {
		observer.disconnect();
		system.removeEventListener("change", tell);
	};
}
