// The engine in a worker: loads Python and nonstrict from files of this folder, then answers one question at a time.

import type { PyodideAPI } from "pyodide";
import boot from "../python/boot_engine.py";
import type { Answer, Question } from "./protocol";

/** `Programs` of nonstrict_playground.py. */
interface Programs {
	check(program: string, torch: string, text: string): string;
	fixed(program: string): string;
	forget(program: string): void;
}

interface Scope {
	fetch: typeof fetch;
	postMessage(answer: Answer): void;
	onmessage: ((event: MessageEvent<Question>) => void) | null;
}

const scope = self as unknown as Scope;
const ENGINE = "/lib/engine";
const ROOT = "/playground";

/** Counts what is downloaded, whoever asks for it. */
function countDownloads(): void {
	const download = scope.fetch.bind(scope);
	const total = Object.values(BUILT.sizes).reduce((sum, size) => sum + size, 0);
	let done = 0;
	scope.fetch = async (...asked) => {
		const response = await download(...asked);
		const file = new URL(response.url).pathname.split("/").at(-1) ?? "";
		done += BUILT.sizes[file] ?? 0;
		scope.postMessage({ kind: "loading", what: "Python and the engine", done, total });
		return response;
	};
}

async function load(): Promise<Programs> {
	countDownloads();
	const at = (path: string) => new URL(path, import.meta.url).href;
	const engine = scope.fetch(at(BUILT.engine)).then(complete);
	engine.catch(() => undefined);
	const { loadPyodide } = (await import(at(`${BUILT.pyodide}pyodide.mjs`))) as typeof import("pyodide");
	const python: PyodideAPI = await loadPyodide({
		indexURL: at(BUILT.pyodide),
		stdLibURL: at(BUILT.stdlib),
		// No package of Pyodide is loaded, so that what it knows of them is not needed.
		lockFileContents: { info: BUILT.lock, packages: {} },
		stderr: console.debug,
	});
	python.unpackArchive(await engine, "zip", { extractDir: ENGINE });
	python.runPython(boot);
	return python.pyimport("nonstrict_playground").Programs(ROOT) as Programs;
}

async function complete(response: Response): Promise<ArrayBuffer> {
	if (!response.ok) {
		throw new Error(`${response.url} cannot be loaded (${response.status})`);
	}
	return response.arrayBuffer();
}

function answered(programs: Programs, question: Question): string {
	switch (question.kind) {
		case "check":
			return programs.check(question.program, question.torch, question.text);
		case "fixes":
			return programs.fixed(question.program);
		case "forget":
			programs.forget(question.program);
			return "null";
	}
}

const loaded = load();
loaded.then(
	() => scope.postMessage({ kind: "ready" }),
	(error) => scope.postMessage({ kind: "died", reason: String(error) }),
);
scope.onmessage = async ({ data }) => {
	try {
		scope.postMessage({ kind: "answer", id: data.id, json: answered(await loaded, data) });
	} catch (error) {
		// Exceptions of Python are findings. What comes here ended Python itself: its stack is too small for the text.
		scope.postMessage({ kind: "died", reason: String(error) });
	}
};
