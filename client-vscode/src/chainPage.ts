// The picture of a chain as a page for a webview: SVG, and the same as a list. Nothing remote, no inline styles.
import { type Arrow, type Box, type Chain, LABELS, LINE, layout, placeOf, type Step } from "./chain";

const PADDING = 12;
const STYLE = `
body { padding: 0 1rem 1rem; color: var(--vscode-foreground); font-family: var(--vscode-font-family); font-size: var(--vscode-font-size); }
h1 { font-size: 1.2em; font-weight: 600; }
svg { display: block; max-width: 100%; height: auto; }
svg text { fill: var(--vscode-foreground); font-family: var(--vscode-font-family); font-size: 13px; }
svg .label { fill: var(--vscode-descriptionForeground); font-size: 11px; text-transform: uppercase; letter-spacing: 0.06em; }
svg .place { fill: var(--vscode-textLink-foreground); font-size: 12px; }
svg .code { font-family: var(--vscode-editor-font-family); font-size: 12px; }
svg .frame { fill: var(--vscode-editorWidget-background, transparent); stroke: var(--vscode-contrastBorder, var(--vscode-widget-border, var(--vscode-descriptionForeground))); }
svg .bar { fill: var(--vscode-descriptionForeground); }
svg .region .bar { fill: var(--vscode-charts-blue); }
svg .marker .bar { fill: var(--vscode-charts-purple); }
svg .error .bar { fill: var(--vscode-charts-red); }
svg .warning .bar { fill: var(--vscode-charts-yellow); }
svg .note .bar { fill: var(--vscode-charts-green); }
svg .evidence .bar { fill: var(--vscode-charts-orange); }
svg .arrow { fill: none; stroke: var(--vscode-descriptionForeground); stroke-width: 1.5; }
svg .head { fill: var(--vscode-descriptionForeground); }
svg .node { cursor: pointer; outline: none; }
svg .node:hover .frame { stroke: var(--vscode-textLink-activeForeground, var(--vscode-focusBorder)); }
svg .node:focus-visible .frame { stroke: var(--vscode-focusBorder); stroke-width: 3; }
summary, li button { cursor: pointer; }
summary:focus-visible, li button:focus-visible { outline: 1px solid var(--vscode-focusBorder); outline-offset: 2px; }
li { margin: 0.4em 0; }
li button { padding: 0; border: none; background: none; color: var(--vscode-textLink-foreground); font: inherit; }
code { font-family: var(--vscode-editor-font-family); }
`;
const SCRIPT = `
const vscode = acquireVsCodeApi();
const nodes = [...document.querySelectorAll("svg [data-node]")];
const open = (element) => vscode.postMessage({ open: Number(element.dataset.node) });
document.addEventListener("click", (event) => {
	const node = event.target.closest("[data-node]");
	if (node) open(node);
});
document.addEventListener("keydown", (event) => {
	const at = nodes.indexOf(document.activeElement);
	if (at < 0) return;
	if (event.key === "Enter" || event.key === " ") open(nodes[at]);
	else if (event.key === "ArrowDown") nodes[Math.min(at + 1, nodes.length - 1)].focus();
	else if (event.key === "ArrowUp") nodes[Math.max(at - 1, 0)].focus();
	else if (event.key === "Home") nodes[0].focus();
	else if (event.key === "End") nodes[nodes.length - 1].focus();
	else return;
	event.preventDefault();
});
`;

/** A text with the characters escaped that mean something in HTML and SVG. */
export function escaped(text: string): string {
	return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

/** The page; `nonce` is a number used once, by which its own style and script are told from any others. */
export function chainPage(chain: Chain, nonce: string): string {
	const title = `${chain.code} ${chain.name} in ${chain.function}`;
	const badge = chain.verdict === null ? "" : ` — ${chain.verdict}`;
	return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'nonce-${nonce}'; script-src 'nonce-${nonce}'">
<title>${escaped(title)}</title>
<style nonce="${nonce}">${STYLE}</style>
</head>
<body>
<h1>${escaped(title + badge)}</h1>
${picture(chain, title)}
<details>
<summary>The same as a list</summary>
<ol id="list">
${chain.steps.map(item).join("\n")}
</ol>
</details>
<script nonce="${nonce}">${SCRIPT}</script>
</body>
</html>
`;
}

/** The picture itself. */
export function picture(chain: Chain, title: string): string {
	const { width, height, boxes, arrows } = layout(chain.steps);
	return `<svg role="group" aria-label="${escaped(`The way to ${title}: arrow keys move, Enter opens the code`)}" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">
<defs><marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" orient="auto"><path class="head" d="M0 0 L8 4 L0 8 z"/></marker></defs>
<g aria-hidden="true">${arrows.map(arrow).join("")}</g>
${boxes.map((box) => node(box, chain)).join("\n")}
</svg>`;
}

function arrow({ from, to }: Arrow): string {
	const [x, y] = [from.x + from.width / 2, from.y + from.height];
	const [endX, endY] = [to.x + to.width / 2, to.y];
	const middle = (y + endY) / 2;
	return `<path class="arrow" marker-end="url(#head)" d="M${x} ${y} C${x} ${middle} ${endX} ${middle} ${endX} ${endY}"/>`;
}

function node(box: Box, chain: Chain): string {
	const step = chain.steps[box.step] as Step;
	const left = box.x + PADDING + 4;
	const right = box.x + box.width - PADDING;
	const row = (line: number) => box.y + PADDING + (line + 1) * LINE - 5;
	const verdict = step.kind === "effect" && chain.verdict !== null ? ` · ${chain.verdict}` : "";
	const label = `${LABELS[step.kind]}${verdict}`;
	const told = `Step ${box.step + 1} of ${chain.steps.length}, ${label}: ${step.text}. ${box.place}`;
	const kind = step.kind === "effect" ? chain.severity : step.kind;
	return `<g class="node ${kind}" role="button" tabindex="0" data-node="${box.step}" aria-label="${escaped(told)}">
<title>${escaped(`${step.text}\n${step.code}`)}</title>
<rect class="frame" x="${box.x}" y="${box.y}" width="${box.width}" height="${box.height}" rx="6"/>
<rect class="bar" x="${box.x}" y="${box.y + 6}" width="4" height="${box.height - 12}"/>
<text class="label" x="${left}" y="${row(0)}">${escaped(label)}</text>
<text class="place" x="${right}" y="${row(0)}" text-anchor="end">${escaped(box.place)}</text>
${box.lines.map((line, index) => `<text x="${left}" y="${row(index + 1)}">${escaped(line)}</text>`).join("\n")}
<text class="code" x="${left}" y="${row(box.lines.length + 1)}">${escaped(box.code)}</text>
</g>`;
}

function item(step: Step, position: number): string {
	const label = `${LABELS[step.kind]}, ${placeOf(step)}`;
	return `<li><button type="button" data-node="${position}">${escaped(label)}</button>: ${escaped(step.text)}<br><code>${escaped(step.code)}</code></li>`;
}
