// Holds package.json against itself, the code, and lines as `nonstrict check --output-format concise` prints them.
import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import manifest from "../package.json";
import { CHAIN_VIEW, COMMANDS, CONTEXT, REGIONS_VIEW, STATUS_ID, TASK_TYPE } from "../src/names";
import { CONFIRMABLE } from "../src/regionMap";
import { RESTARTING } from "../src/settings";
import { COLORS } from "../src/verdicts";

const { contributes, capabilities } = manifest;
const commands = contributes.commands.map(({ command }) => command);
const settings: Record<string, { default?: unknown; scope?: string; markdownDescription?: string }> =
	contributes.configuration.properties;
const matcher = contributes.problemMatchers[0];
assert.ok(matcher);
const pattern = matcher.pattern;

/** The text of all modules that call the editor. */
const editor = readdirSync("src/editor")
	.map((name) => readFileSync(`src/editor/${name}`, "utf8"))
	.join("\n");

function matched(line: string): string[] | undefined {
	return new RegExp(pattern.regexp).exec(line)?.slice(1);
}

test("the problem matcher reads a finding", () => {
	const line = "src/model.py:12:5: error[NST101] `mask` is a tensor captured from a module global";
	const message = "`mask` is a tensor captured from a module global";
	assert.deepEqual(matched(line), ["src/model.py", "12", "5", "error", "NST101", message]);
});

test("the problem matcher reads a path with a drive letter", () => {
	assert.equal(matched("C:\\work\\model.py:3:1: warning[NST201] prints")?.[0], "C:\\work\\model.py");
});

test("the problem matcher leaves the summary alone", () => {
	assert.equal(matched("Found 3 findings (1 error, 2 warnings) in 12 files."), undefined);
});

test("every group of the pattern is used once", () => {
	const { regexp, ...groups } = pattern;
	const used = Object.values(groups).sort((left, right) => left - right);
	assert.equal(new RegExp(`${regexp}|`).exec("")?.length, used.length + 1);
	assert.deepEqual(
		used,
		used.map((_, index) => index + 1),
	);
});

test("the commands of the manifest are those of the code, and each is registered once", () => {
	assert.deepEqual([...commands].sort(), Object.values(COMMANDS).sort());
	for (const name of Object.keys(COMMANDS)) {
		const registered = editor.match(
			new RegExp(`(?:registerCommand|onServer|listing)\\(\\s*COMMANDS\\.${name}\\b`, "g"),
		);
		assert.equal(registered?.length, 1, name);
	}
});

test("what needs a server is offered only while there is one, what runs code only where that is allowed", () => {
	const always: string[] = [
		COMMANDS.restart,
		COMMANDS.showLogs,
		COMMANDS.showStatus,
		COMMANDS.chooseInterpreter,
		COMMANDS.debugInformation,
		COMMANDS.checkWorkspace,
	];
	const harmless: string[] = [
		COMMANDS.explainRule,
		COMMANDS.showChain,
		COMMANDS.showChainPicture,
		COMMANDS.writeBaseline,
		COMMANDS.refreshRegions,
		COMMANDS.showFindings,
		COMMANDS.showRun,
		COMMANDS.showAllRegions,
		COMMANDS.showConfirmedRegions,
		COMMANDS.showObservedRegions,
	];
	// A run of the user's own program is no experiment.
	const programs: string[] = [COMMANDS.trace, COMMANDS.cancelTrace];
	for (const command of contributes.commands) {
		const condition = "enablement" in command ? (command.enablement ?? "") : "";
		assert.equal(condition.includes(CONTEXT.running), !always.includes(command.command), command.command);
		const runs = !always.includes(command.command) && !harmless.includes(command.command);
		assert.equal(condition.includes("isWorkspaceTrusted"), runs, command.command);
		const isExperiment = runs && !programs.includes(command.command);
		assert.equal(condition.includes("config.nonstrict.confirm.mode != off"), isExperiment, command.command);
	}
	const palette: Record<string, string> = Object.fromEntries(
		contributes.menus.commandPalette.map((entry) => [entry.command, entry.when]),
	);
	for (const command of contributes.commands) {
		assert.equal(palette[command.command], "enablement" in command ? command.enablement : undefined);
	}
});

test("menus and the walkthrough name commands that exist", () => {
	const named = Object.values(contributes.menus)
		.flat()
		.flatMap((entry) => ("command" in entry ? [entry.command] : []));
	const steps = contributes.walkthroughs.flatMap((walkthrough) => walkthrough.steps);
	const linked = steps.flatMap((step) =>
		[...step.description.matchAll(/command:(nonstrict\.\w+)/g)].map((one) => one[1]),
	);
	const awaited = steps
		.flatMap((step) => step.completionEvents)
		.flatMap((event) => /^onCommand:(nonstrict\..+)/.exec(event)?.[1] ?? []);
	for (const command of [...named, ...linked, ...awaited]) {
		assert.ok(command !== undefined && commands.includes(command), command);
	}
	for (const step of steps) {
		assert.ok(existsSync(step.media.markdown), step.media.markdown);
	}
});

test("every setting says what it is, what it defaults to, and where it may be set", () => {
	for (const [name, setting] of Object.entries(settings)) {
		assert.match(name, /^nonstrict\./);
		assert.ok((setting.markdownDescription ?? "").length > 20, name);
		assert.ok(setting.default !== undefined, name);
		assert.ok(["resource", "window", "machine-overridable"].includes(setting.scope ?? ""), name);
	}
	for (const name of RESTARTING) {
		assert.ok(`nonstrict.${name}` in settings, name);
	}
});

test("the settings are those that the server reads, and those of the extension itself", () => {
	const own = ["path", "importStrategy", "args", "trace.server", "verdicts.enable", "testing.enable"];
	const server = readFileSync("../server/nonstrict_server/settings.py", "utf8");
	for (const name of Object.keys(settings).map((key) => key.replace("nonstrict.", ""))) {
		assert.ok(own.includes(name) || server.includes(`"${name}"`), name);
	}
	const read = [...server.matchAll(/given\.(?:flag|text|number|get)\("([\w.]+)"/g)].map((one) => `nonstrict.${one[1]}`);
	assert.ok(read.length >= 10);
	assert.deepEqual(
		read.filter((name) => !(name in settings)),
		[],
	);
});

test("the README lists every setting", () => {
	const readme = readFileSync("README.md", "utf8");
	for (const name of Object.keys(settings)) {
		const short = name.replace("nonstrict.", "");
		assert.ok(readme.includes(`\`${name}\``) || readme.includes(`\`${short}\``), name);
	}
});

test("a workspace that is not trusted cannot say what is run", () => {
	const { supported, restrictedConfigurations } = capabilities.untrustedWorkspaces;
	assert.equal(supported, "limited");
	for (const name of ["interpreter", "path", "importStrategy", "args", "configuration", "confirm.mode"]) {
		assert.ok(restrictedConfigurations.includes(`nonstrict.${name}`), name);
	}
	assert.ok(restrictedConfigurations.every((name) => name in settings));
	assert.equal(capabilities.virtualWorkspaces.supported, false);
});

test("names in the manifest are those of the code", () => {
	assert.deepEqual(
		contributes.taskDefinitions.map((definition) => definition.type),
		[TASK_TYPE],
	);
	assert.ok(CHAIN_VIEW.startsWith("nonstrict.") && STATUS_ID.startsWith("nonstrict."));
	assert.ok(manifest.activationEvents.includes(`onTaskType:${TASK_TYPE}`));
	assert.ok(manifest.activationEvents.includes(`onWalkthrough:${contributes.walkthroughs[0]?.id}`));
});

test("the view of regions is the one of the code, says what to do while it is empty, and has menus of its own", () => {
	assert.deepEqual(
		contributes.views.explorer.map(({ id }) => id),
		[REGIONS_VIEW],
	);
	const { viewsWelcome, menus } = contributes;
	assert.deepEqual(
		viewsWelcome.map(({ view, when }) => [view, when]),
		[
			[REGIONS_VIEW, CONTEXT.running],
			[REGIONS_VIEW, `!${CONTEXT.running}`],
		],
	);
	const linked = viewsWelcome.flatMap(({ contents }) => [...contents.matchAll(/command:([\w.]+)/g)]);
	assert.ok(linked.length >= 3 && linked.every(([, command]) => commands.includes(command ?? "")));
	assert.ok(menus["view/title"].every(({ when }) => when === `view == ${REGIONS_VIEW}`));
	assert.deepEqual(
		menus["view/item/context"].map(({ command, when }) => [command, when]),
		[[COMMANDS.confirmRegion, `view == ${REGIONS_VIEW} && viewItem == ${CONFIRMABLE}`]],
	);
});

test("the colours of verdicts are those of the manifest", () => {
	const told = contributes.colors.map(({ id, defaults }) => [id, defaults]);
	assert.deepEqual(
		Object.fromEntries(told),
		Object.fromEntries(Object.entries(COLORS).map(([name, color]) => [`nonstrict.${name}Foreground`, color])),
	);
});

test("only src/editor and the entry point know the editor", () => {
	const modules = readdirSync("src").filter((name) => name.endsWith(".ts") && name !== "extension.ts");
	assert.ok(modules.length >= 8);
	for (const name of modules) {
		assert.doesNotMatch(readFileSync(`src/${name}`, "utf8"), /from "(vscode|vscode-languageclient|\.\/editor)/, name);
	}
});

test("the package has its own licence, icon and pictures", () => {
	assert.equal(readFileSync("LICENSE", "utf8"), readFileSync("../LICENSE", "utf8"));
	const icon = readFileSync(manifest.icon);
	assert.deepEqual([icon.readUInt32BE(16), icon.readUInt32BE(20)], [256, 256]);
	const linked = [...readFileSync("README.md", "utf8").matchAll(/\]\((pictures\/[^)]+)\)/g)].map((one) => one[1]);
	assert.deepEqual(
		linked,
		[
			"problem-list",
			"project-dark",
			"project-light",
			"project-high-contrast",
			"verdict",
			"verdicts-dark",
			"verdicts-edited",
			"verdicts-light",
			"verdicts-high-contrast",
			"run",
			"testing",
			"chain",
			"graph",
		].map((name) => `pictures/${name}.png`),
	);
});
