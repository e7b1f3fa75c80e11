// Which lines of a graph, or of generated code, came from which lines of the user's documents, and back.

/** A line of the shown document, and the document and row it came from; all count from 0. */
export interface Origin {
	readonly line: number;
	readonly uri: string;
	readonly row: number;
}

/** An edit of a document: rows that were replaced, the last one included, and how many rows stand there now. */
export interface RowEdit {
	readonly first: number;
	readonly last: number;
	readonly now: number;
}

/** The way between a shown document and its sources. */
export class LineMap {
	constructor(private readonly origins: readonly Origin[]) {}

	/** The rows that a line came from. */
	sourcesOf(line: number): readonly Origin[] {
		return this.origins.filter((origin) => origin.line === line);
	}

	/** The lines that came from a row, in order. */
	linesOf(uri: string, row: number): number[] {
		const lines = this.origins.filter((origin) => origin.uri === uri && origin.row === row).map(({ line }) => line);
		return [...new Set(lines)].sort((left, right) => left - right);
	}

	/** The map after an edit of a source: rows below move, rows that were rewritten are nobody's any more. */
	edited(uri: string, { first, last, now }: RowEdit): LineMap {
		const moved = now - (last - first + 1);
		// An edit within one row leaves the row what it is: it is still the one that the operators came from.
		const kept = first === last && now === 1;
		return new LineMap(
			this.origins
				.filter((origin) => kept || origin.uri !== uri || origin.row < first || origin.row > last)
				.map((origin) => (origin.uri === uri && origin.row > last ? { ...origin, row: origin.row + moved } : origin)),
		);
	}
}
