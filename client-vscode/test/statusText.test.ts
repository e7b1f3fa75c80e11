import assert from "node:assert/strict";
import { test } from "node:test";
import { type Situation, statusText } from "../src/statusText";

const RUNNING: Situation = {
	phase: "running",
	environment: { torch: "2.13.0+cpu", device: "cpu", hindrance: "" },
	busy: false,
	activity: "",
};

test("torch and the device are told", () => {
	assert.equal(statusText(RUNNING).text, "nonstrict · torch 2.13 · cpu");
	const unknown = { ...RUNNING, environment: { torch: "2.9.1", device: "", hindrance: "" } };
	assert.equal(statusText(unknown).text, "nonstrict · torch 2.9");
});

test("it is busy while something is confirmed, and says what the agent does", () => {
	const shown = statusText({ ...RUNNING, busy: true, activity: "Importing torch" });
	assert.deepEqual([shown.busy, shown.detail], [true, "confirming: Importing torch"]);
});

test("no torch is a warning that says what to do", () => {
	const shown = statusText({ ...RUNNING, environment: { torch: null, device: "", hindrance: "" } });
	assert.equal(shown.severity, "warning");
	assert.match(shown.detail, /choose an interpreter that has torch/);
});

test("what keeps experiments from being run is told", () => {
	const environment = { torch: "2.13.0", device: "", hindrance: "the workspace is not trusted" };
	assert.equal(statusText({ ...RUNNING, environment }).detail, "the workspace is not trusted");
});

test("a server that failed is an error, one that is off is not", () => {
	assert.equal(statusText({ ...RUNNING, phase: "failed" }).severity, "error");
	assert.equal(statusText({ ...RUNNING, phase: "off" }).severity, "information");
	assert.equal(statusText({ ...RUNNING, phase: "starting" }).busy, true);
});
