import assert from "node:assert/strict";
import { mock, test } from "node:test";
import { Engine, type Listener, type State } from "../src/engine";
import type { Answer, Question } from "../src/protocol";

/** A worker that answers when the test says so. */
class FakeWorker {
	readonly asked: Question[] = [];
	ended = false;
	onmessage: ((event: { data: Answer }) => void) | null = null;
	onerror: ((event: { message: string }) => void) | null = null;

	postMessage(question: Question): void {
		this.asked.push(question);
	}

	terminate(): void {
		this.ended = true;
	}

	say(answer: Answer): void {
		this.onmessage?.({ data: answer });
	}

	/** Answer the latest question. */
	answer(value: unknown): void {
		this.say({ kind: "answer", id: this.asked.at(-1)?.id ?? 0, json: JSON.stringify(value) });
	}
}

class Heard implements Listener {
	readonly said: string[] = [];
	last: State["kind"] | null = null;

	state(state: State): void {
		this.last = state.kind;
	}

	checked(_: unknown, text: string): void {
		this.said.push(`checked ${text}`);
	}

	fixed(_: unknown, text: string): void {
		this.said.push(`fixed ${text}`);
	}

	gaveUp(why: string, text: string): void {
		this.said.push(`${why} ${text}`);
	}
}

const NOTHING = { findings: [], regions: [] };

function started() {
	const workers: FakeWorker[] = [];
	const engine = new Engine(() => {
		const made = new FakeWorker();
		workers.push(made);
		return made as unknown as Worker;
	});
	const heard = new Heard();
	engine.open("one", heard);
	const latest = () => workers.at(-1) ?? new FakeWorker();
	return { engine, heard, workers, latest };
}

test("of texts that wait, the newest is checked; then its fixes are asked for", () => {
	const { engine, heard, latest } = started();
	engine.check("one", "2.13", "a");
	assert.equal(latest().asked.length, 0);
	latest().say({ kind: "ready" });
	engine.check("one", "2.13", "b");
	engine.check("one", "2.13", "c");
	latest().answer(NOTHING);
	latest().answer(NOTHING);
	latest().answer([]);
	assert.deepEqual(heard.said, ["checked a", "checked c", "fixed c"]);
	assert.deepEqual(
		latest().asked.map((one) => one.kind),
		["check", "check", "fixes"],
	);
});

test("programs take turns, and edits come before fixes", () => {
	const { engine, heard, latest } = started();
	const other = new Heard();
	engine.open("two", other);
	latest().say({ kind: "ready" });
	engine.check("one", "2.13", "a");
	engine.check("two", "2.13", "b");
	latest().answer(NOTHING);
	assert.deepEqual(latest().asked.at(-1), { kind: "check", id: 2, program: "two", torch: "2.13", text: "b" });
	latest().answer(NOTHING);
	latest().answer([]);
	assert.deepEqual([heard.said, other.said], [["checked a", "fixed a"], ["checked b"]]);
});

test("an engine that ends over a text is started again, and the next text is checked", () => {
	const { engine, heard, workers, latest } = started();
	latest().say({ kind: "ready" });
	engine.check("one", "2.13", "deep");
	latest().say({ kind: "died", reason: "stack" });
	assert.deepEqual(heard.said, ["stopped deep"]);
	assert.equal(workers[0]?.ended, true);
	engine.check("one", "2.13", "flat");
	latest().say({ kind: "ready" });
	latest().answer(NOTHING);
	assert.deepEqual(heard.said, ["stopped deep", "checked flat"]);
});

test("an engine that does not answer is started again", () => {
	mock.timers.enable({ apis: ["setTimeout"] });
	const { engine, heard, workers, latest } = started();
	latest().say({ kind: "ready" });
	engine.check("one", "2.13", "slow");
	mock.timers.tick(60_000);
	mock.timers.reset();
	assert.deepEqual(heard.said, ["slow slow"]);
	assert.equal(workers.length, 2);
});

test("an engine that cannot be loaded is left alone until somebody asks", () => {
	const { engine, heard, workers, latest } = started();
	latest().say({ kind: "died", reason: "no file" });
	latest().say({ kind: "died", reason: "no file" });
	assert.equal(heard.last, "failed");
	assert.equal(workers.length, 2);
	engine.retry();
	assert.equal(heard.last, "loading");
	latest().say({ kind: "ready" });
	assert.equal(heard.last, "ready");
});
