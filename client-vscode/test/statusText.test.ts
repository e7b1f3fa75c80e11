import assert from "node:assert/strict";
import { test } from "node:test";
import manifest from "../package.json";
import { COMMANDS } from "../src/names";
import { type Environment, OFFERED, type Situation, spoken, statusText, tooltip } from "../src/statusText";

const ENVIRONMENT: Environment = {
	torch: "2.13.0+cpu",
	device: "cpu",
	python: "/envs/my_env/bin/python",
	hasTorch: true,
	notice: "",
	trusted: true,
	hindrance: "",
};
const RUNNING: Situation = { phase: "running", environment: ENVIRONMENT, busy: false, activity: "" };
const NO_TORCH = "nothing can be confirmed: /envs/my_env/bin/python has no torch; choose an interpreter that has it";

function shown(environment: Partial<Environment>) {
	return statusText({ ...RUNNING, environment: { ...ENVIRONMENT, ...environment } });
}

test("torch and the device are told", () => {
	assert.equal(statusText(RUNNING).text, "nonstrict · torch 2.13 · cpu");
	assert.equal(shown({ torch: "2.9.1", device: "" }).text, "nonstrict · torch 2.9");
	assert.deepEqual(statusText(RUNNING).facts, [
		["Torch", "2.13.0+cpu"],
		["Device", "cpu"],
		["Interpreter", "/envs/my_env/bin/python"],
		["Workspace", "trusted"],
	]);
});

test("it is busy while something is confirmed, and says what the agent does", () => {
	const busy = statusText({ ...RUNNING, busy: true, activity: "Importing torch" });
	assert.deepEqual([busy.busy, busy.detail], [true, "Confirming: Importing torch"]);
	assert.equal(spoken(busy), "nonstrict · torch 2.13 · cpu. Confirming: Importing torch");
});

test("no torch is a warning that says what to do, and the interpreter is chosen first", () => {
	const unknown = shown({ torch: null, device: "" });
	assert.deepEqual([unknown.text, unknown.severity], ["nonstrict · no torch", "warning"]);
	assert.match(unknown.detail, /choose an interpreter that has torch/);
	const known = shown({ torch: null, device: "", hasTorch: false, hindrance: NO_TORCH });
	assert.match(known.detail, /^Nothing can be confirmed: .* has no torch; choose an interpreter that has it\.$/);
	assert.equal(known.offers[0]?.command, COMMANDS.chooseInterpreter);
});

test("findings may be for a torch that experiments cannot run", () => {
	const told = shown({ torch: "2.12", hasTorch: false, hindrance: NO_TORCH });
	assert.deepEqual([told.text, told.severity], ["nonstrict · torch 2.12 · no experiments", "warning"]);
});

test("what keeps experiments from being run is told, and who may change that", () => {
	const told = shown({ hindrance: "the workspace is not trusted", trusted: false });
	assert.equal(told.detail, "The workspace is not trusted.");
	assert.equal(told.offers[0]?.command, "workbench.trust.manage");
	assert.deepEqual(told.facts.at(-1), ["Workspace", "not trusted"]);
	assert.equal(shown({ notice: "experiments run in /usr/bin/python" }).detail, "Experiments run in /usr/bin/python.");
});

test("a server that failed is an error, one that is off is not", () => {
	const failed = statusText({ ...RUNNING, phase: "failed" });
	assert.deepEqual([failed.severity, failed.offers[0]?.command], ["error", COMMANDS.showLogs]);
	assert.equal(statusText({ ...RUNNING, phase: "off" }).severity, "information");
	assert.equal(statusText({ ...RUNNING, phase: "starting" }).busy, true);
});

test("the tooltip says all of it, and links to nothing else than what is offered", () => {
	const text = tooltip(shown({ torch: null, hasTorch: false, hindrance: NO_TORCH, device: "" }));
	assert.match(text, /^Nothing can be confirmed: \/envs\/my\\_env\/bin\/python has no torch/);
	assert.ok(text.includes("| Interpreter | `/envs/my_env/bin/python` |"));
	assert.ok(text.includes("| Device | known after the first experiment |"));
	for (const phase of ["off", "starting", "running", "failed"] as const) {
		const links = [...tooltip(statusText({ ...RUNNING, phase })).matchAll(/\(command:([\w.]+)\)/g)];
		assert.ok(links.length >= 3);
		assert.ok(links.every(([, command]) => command !== undefined && OFFERED.includes(command)));
	}
	const known = manifest.contributes.commands.map(({ command }) => command);
	assert.ok(OFFERED.every((command) => known.includes(command) || command.startsWith("workbench.")));
});

test("what a path or a message holds is no Markdown", () => {
	const text = tooltip(shown({ python: "/a|b/`c`/python", notice: "see <b>*this*</b> [now](command:x)" }));
	assert.ok(text.includes("`/a\\|b/'c'/python`"));
	assert.ok(text.includes("See \\<b\\>\\*this\\*\\</b\\> \\[now\\](command:x)."));
});
