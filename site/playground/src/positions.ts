// Between positions of the engine (rows and code points from 1) and offsets in the document of an editor.

import type { Text } from "@codemirror/state";
import type { Place, Position } from "./records";

export function offsetOf(document: Text, position: Position): number {
	if (position.row < 1) {
		return 0;
	}
	if (position.row > document.lines) {
		return document.length;
	}
	const line = document.line(position.row);
	let units = 0;
	let points = 1;
	for (const character of line.text) {
		if (points >= position.column) {
			break;
		}
		points += 1;
		units += character.length;
	}
	return line.from + units;
}

export function rangeOf(document: Text, place: Place): { from: number; to: number } {
	const from = offsetOf(document, place.location);
	return { from, to: Math.max(from, offsetOf(document, place.end_location)) };
}
