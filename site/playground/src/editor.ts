// The editor: Python with findings drawn in the text, in the gutter and under the pointer.

import { defaultKeymap, history, historyKeymap, indentLess, indentMore } from "@codemirror/commands";
import { python } from "@codemirror/lang-python";
import { bracketMatching, HighlightStyle, indentOnInput, indentUnit, syntaxHighlighting } from "@codemirror/language";
import { type Diagnostic, lintGutter, nextDiagnostic, previousDiagnostic, setDiagnostics } from "@codemirror/lint";
import { EditorState, type Extension } from "@codemirror/state";
import {
	drawSelection,
	EditorView,
	highlightActiveLine,
	highlightActiveLineGutter,
	keymap,
	lineNumbers,
	tooltips,
} from "@codemirror/view";
import { tags } from "@lezer/highlight";
import { described, type Fixer } from "./findings";
import { rangeOf } from "./positions";
import type { Finding, Fix, Place } from "./records";

const COLORS = HighlightStyle.define([
	{ tag: [tags.keyword, tags.operatorKeyword, tags.modifier], color: "var(--keyword)" },
	{ tag: [tags.string, tags.special(tags.string)], color: "var(--string)" },
	{ tag: [tags.number, tags.bool, tags.null], color: "var(--number)" },
	{ tag: [tags.comment, tags.docComment], color: "var(--comment)", fontStyle: "italic" },
	{ tag: [tags.function(tags.variableName), tags.function(tags.propertyName)], color: "var(--function)" },
	{ tag: [tags.definition(tags.className), tags.className, tags.typeName], color: "var(--type)" },
	{ tag: [tags.meta, tags.annotation], color: "var(--meta)" },
]);

const SEVERITIES = { error: "error", warning: "warning", note: "info" } as const;

/** An editor; `edited` is called after each change. */
export function editor(
	text: string,
	root: ShadowRoot,
	parent: HTMLElement,
	label: string,
	edited: () => void,
): EditorView {
	const told = EditorView.updateListener.of((update) => {
		if (update.docChanged) {
			edited();
		}
	});
	const state = EditorState.create({ doc: text, extensions: [extensions(label), told] });
	return new EditorView({ state, root, parent });
}

function extensions(label: string): Extension {
	return [
		lineNumbers(),
		lintGutter(),
		history(),
		drawSelection(),
		indentOnInput(),
		indentUnit.of("    "),
		bracketMatching(),
		highlightActiveLine(),
		highlightActiveLineGutter(),
		python(),
		syntaxHighlighting(COLORS),
		tooltips({ position: "absolute" }),
		// Tab leaves the editor, so that nobody who uses the keyboard alone is caught in it.
		keymap.of([
			{ key: "Mod-]", run: indentMore },
			{ key: "Mod-[", run: indentLess },
			{ key: "F8", run: nextDiagnostic },
			{ key: "Shift-F8", run: previousDiagnostic },
			...defaultKeymap,
			...historyKeymap,
		]),
		EditorView.contentAttributes.of({ "aria-label": label, "aria-describedby": "keys" }),
	];
}

/** Draw findings; fixes are offered as far as they are known. */
export function show(view: EditorView, findings: readonly Finding[], fixer: Fixer): void {
	const drawn = findings.map((finding): Diagnostic => {
		const { from, to } = rangeOf(view.state.doc, finding);
		return {
			from,
			to,
			severity: SEVERITIES[finding.severity],
			message: finding.message,
			renderMessage: () => described(finding, fixer),
		};
	});
	view.dispatch(setDiagnostics(view.state, drawn));
}

export function replace(view: EditorView, text: string): void {
	view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: text }, selection: { anchor: 0 } });
}

/** Make all edits of a fix at once: one step of undo. */
export function apply(view: EditorView, fix: Fix): void {
	const changes = fix.edits.map((edit) => ({ ...rangeOf(view.state.doc, edit), insert: edit.content }));
	view.dispatch({ changes, userEvent: "input.fix" });
}

/** Select a place and have it in sight. */
export function goTo(view: EditorView, place: Place): void {
	const { from, to } = rangeOf(view.state.doc, place);
	view.dispatch({ selection: { anchor: from, head: to }, effects: EditorView.scrollIntoView(from, { y: "center" }) });
	view.focus();
}
