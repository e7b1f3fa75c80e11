// What the page and the worker say to each other.

export type Question =
	| { kind: "check"; id: number; program: string; torch: string; text: string }
	| { kind: "fixes"; id: number; program: string }
	| { kind: "forget"; id: number; program: string };

/** `loading` says how many bytes have come, of how many; `answer` holds JSON. */
export type Answer =
	| { kind: "loading"; what: string; done: number; total: number }
	| { kind: "ready" }
	| { kind: "answer"; id: number; json: string }
	| { kind: "died"; reason: string };
