// What the engine answers: the JSON of `nonstrict check` and `nonstrict regions`, as far as it is shown.

/** A position: rows and columns count from 1, columns in code points. */
export interface Position {
	row: number;
	column: number;
}

/** A range; its end is exclusive. */
export interface Place {
	location: Position;
	end_location: Position;
}

export interface Related extends Place {
	message: string;
}

export interface Edit extends Place {
	content: string;
}

export interface Fix {
	applicability: "safe" | "unsafe" | "display";
	message: string;
	edits: Edit[];
}

export type Severity = "error" | "warning" | "note";

export interface Finding extends Place {
	code: string;
	name: string;
	severity: Severity;
	message: string;
	note: string | null;
	help: string | null;
	url: string | null;
	fixes: Fix[];
	related: Related[];
	links: number;
	fingerprint: string;
}

export interface Part extends Place {
	kind: "graph" | "break" | "eager";
	depth: number;
}

export interface RegionRecord extends Place {
	function: string | null;
	looked_at: boolean;
	reason: string | null;
	parts: Part[];
	recompilations: Related[];
	callers: Related[];
	marked: Related[];
	not_looked_into: Related[];
}

/** A compiled region, with what people read of it: one text for each part. */
export interface Region {
	record: RegionRecord;
	graphs: string;
	options: string[];
	parts: string[];
}

export interface Checked {
	findings: Finding[];
	regions: Region[];
}
