// The engine as the page knows it: one worker for all programs of a page, started when the first one is opened.

import type { Answer, Question } from "./protocol";
import type { Checked, Finding } from "./records";

/** How long a question may take before the engine is started again. */
const PATIENCE = 20_000;
/** How often a worker that never got ready is started. */
const ATTEMPTS = 2;

export type State =
	| { kind: "loading"; what: string; done: number; total: number }
	| { kind: "ready" }
	| { kind: "failed"; reason: string };

/** Who hears of a program. */
export interface Listener {
	state(state: State): void;
	checked(result: Checked, text: string): void;
	fixed(findings: Finding[], text: string): void;
	/** The engine ended over this text, or took too long. */
	gaveUp(why: "stopped" | "slow", text: string): void;
}

interface Wanted {
	torch: string;
	text: string;
}

class Program {
	wanted: Wanted | null = null;
	/** The text that was checked last, if its fixes are not known yet. */
	unfixed: string | null = null;

	constructor(
		readonly name: string,
		readonly listener: Listener,
	) {}
}

interface Asked {
	id: number;
	program: Program;
	kind: "check" | "fixes";
	text: string;
}

export class Engine {
	private readonly programs = new Map<string, Program>();
	private worker: Worker | null = null;
	private state: State = { kind: "loading", what: "", done: 0, total: 0 };
	private asked: Asked | null = null;
	private timer: ReturnType<typeof setTimeout> | undefined;
	private ids = 0;
	private attempts = 0;

	constructor(private readonly start: () => Worker) {}

	/** Take in a program; its name is no other one's. */
	open(name: string, listener: Listener): void {
		this.programs.set(name, new Program(name, listener));
		if (!this.worker) {
			this.startWorker();
		}
		listener.state(this.state);
	}

	close(name: string): void {
		if (this.programs.delete(name) && this.state.kind === "ready") {
			this.worker?.postMessage({ kind: "forget", id: ++this.ids, program: name } satisfies Question);
		}
	}

	/** Have a text checked. Of several that wait, only the newest is. */
	check(name: string, torch: string, text: string): void {
		const program = this.programs.get(name);
		if (program) {
			program.wanted = { torch, text };
			program.unfixed = null;
			this.next();
		}
	}

	/** Try again after the engine could not be loaded. */
	retry(): void {
		this.attempts = 0;
		this.startWorker();
	}

	private startWorker(): void {
		this.worker?.terminate();
		this.asked = null;
		this.attempts += 1;
		const worker = this.start();
		worker.onmessage = ({ data }: MessageEvent<Answer>) => this.hear(data);
		worker.onerror = (event) => this.end(event.message || "the worker cannot be loaded");
		this.worker = worker;
		this.tell({ kind: "loading", what: "", done: 0, total: 0 });
	}

	private hear(answer: Answer): void {
		if (answer.kind === "loading") {
			this.tell(answer);
		} else if (answer.kind === "answer") {
			this.answer(answer.id, answer.json);
		} else if (answer.kind === "died") {
			this.end(answer.reason);
		} else {
			this.attempts = 0;
			this.tell({ kind: "ready" });
			this.next();
		}
	}

	private answer(id: number, json: string): void {
		const asked = this.asked;
		if (asked?.id !== id) {
			return;
		}
		clearTimeout(this.timer);
		this.asked = null;
		const { program, text } = asked;
		// What comes before the next question is sent keeps the newest text from waiting for what is painted.
		if (asked.kind === "check") {
			program.unfixed = program.wanted ? null : text;
			program.listener.checked(JSON.parse(json) as Checked, text);
		} else if (!program.wanted) {
			program.listener.fixed(JSON.parse(json) as Finding[], text);
		}
		this.next();
	}

	/** The worker ended, or does not answer. */
	private end(reason: string, why: "stopped" | "slow" = "stopped"): void {
		clearTimeout(this.timer);
		const asked = this.asked;
		if (this.state.kind !== "ready" && this.attempts >= ATTEMPTS) {
			this.worker?.terminate();
			this.worker = null;
			this.tell({ kind: "failed", reason });
			return;
		}
		this.startWorker();
		if (asked) {
			asked.program.unfixed = null;
			asked.program.listener.gaveUp(why, asked.text);
		}
		// A new worker knows no text: fixes of what was checked before are asked for with the next edit.
		for (const program of this.programs.values()) {
			program.unfixed = null;
		}
	}

	private next(): void {
		if (this.state.kind !== "ready" || this.asked) {
			return;
		}
		const all = [...this.programs.values()];
		const edited = all.find((program) => program.wanted);
		if (edited?.wanted) {
			const { torch, text } = edited.wanted;
			edited.wanted = null;
			this.ask({ id: ++this.ids, program: edited, kind: "check", text }, torch);
			return;
		}
		const unfixed = all.find((program) => program.unfixed !== null);
		if (unfixed && unfixed.unfixed !== null) {
			const text = unfixed.unfixed;
			unfixed.unfixed = null;
			this.ask({ id: ++this.ids, program: unfixed, kind: "fixes", text }, "");
		}
	}

	private ask(asked: Asked, torch: string): void {
		const { id, kind, text } = asked;
		const program = asked.program.name;
		this.asked = asked;
		this.worker?.postMessage(
			(kind === "check" ? { kind, id, program, torch, text } : { kind, id, program }) as Question,
		);
		this.timer = setTimeout(() => this.end("no answer", "slow"), PATIENCE);
	}

	private tell(state: State): void {
		this.state = state;
		for (const program of this.programs.values()) {
			program.listener.state(state);
		}
	}
}
