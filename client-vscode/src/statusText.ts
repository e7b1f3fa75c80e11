// What the status item says and offers: its text, its tooltip, and the list that a click opens.
import { COMMANDS } from "./names";

/** What the server knows of the folder of the active document. */
export interface Environment {
	/** The torch that findings are for; null if none was found. */
	readonly torch: string | null;
	/** Empty while it is not known. */
	readonly device: string;
	/** The interpreter that experiments are run in. */
	readonly python: string;
	/** False if that interpreter surely has no torch. */
	readonly hasTorch: boolean;
	/** Why it is not the one of the folder; empty if it is. */
	readonly notice: string;
	/** Whether the workspace is trusted. */
	readonly trusted: boolean;
	/** Why no experiments are run; empty if they may be. */
	readonly hindrance: string;
}

/** What the server is doing. */
export interface Situation {
	readonly phase: "off" | "starting" | "running" | "failed";
	readonly environment: Environment | undefined;
	readonly busy: boolean;
	/** What the agent of experiments does, in words. */
	readonly activity: string;
}

/** Something to do about the situation. */
export interface Offer {
	readonly command: string;
	readonly label: string;
	readonly icon: string;
}

/** The item as it is shown. */
export interface StatusText {
	readonly text: string;
	/** What is wrong, or under way; empty if nothing is. */
	readonly detail: string;
	readonly busy: boolean;
	readonly severity: "information" | "warning" | "error";
	/** What is known, by its name. */
	readonly facts: readonly (readonly [string, string])[];
	/** What can be done, the most likely first. */
	readonly offers: readonly Offer[];
}

const CHOOSE: Offer = { command: COMMANDS.chooseInterpreter, label: "Choose Interpreter", icon: "symbol-misc" };
const LOGS: Offer = { command: COMMANDS.showLogs, label: "Show Logs", icon: "output" };
const RESTART: Offer = { command: COMMANDS.restart, label: "Restart Server", icon: "debug-restart" };
const TRUST: Offer = { command: "workbench.trust.manage", label: "Manage Workspace Trust", icon: "shield" };
/** The commands that a tooltip may have run. */
export const OFFERED: readonly string[] = [CHOOSE, LOGS, RESTART, TRUST].map(({ command }) => command);

/** Put a situation into words. */
export function statusText({ phase, environment, busy, activity }: Situation): StatusText {
	const plain = {
		detail: "",
		busy: false,
		severity: "information",
		facts: [],
		offers: [CHOOSE, LOGS, RESTART],
	} as const;
	switch (phase) {
		case "off":
			return { ...plain, text: "nonstrict · off", detail: "No server is running.", offers: [RESTART, CHOOSE, LOGS] };
		case "starting":
			return { ...plain, text: "nonstrict · starting", busy: true };
		case "failed": {
			const offers = [LOGS, RESTART, CHOOSE];
			return { ...plain, text: "nonstrict · failed", detail: "The log says why.", severity: "error", offers };
		}
		case "running":
			return environment === undefined ? { ...plain, text: "nonstrict", busy } : running(environment, busy, activity);
	}
}

function running(environment: Environment, busy: boolean, activity: string): StatusText {
	const { torch, device, trusted, hasTorch } = environment;
	const version = torch === null ? "no torch" : `torch ${release(torch)}`;
	const lacking = torch !== null && !hasTorch ? "no experiments" : device;
	return {
		text: ["nonstrict", version, lacking].filter((part) => part !== "").join(" · "),
		detail: busy ? `Confirming${activity === "" ? "" : `: ${activity}`}` : wrong(environment),
		busy,
		severity: torch === null || !hasTorch ? "warning" : "information",
		facts: [
			["Torch", torch ?? "none was found"],
			["Device", device === "" ? "known after the first experiment" : device],
			["Interpreter", environment.python],
			["Workspace", trusted ? "trusted" : "not trusted"],
		],
		offers: trusted ? [CHOOSE, LOGS, RESTART] : [TRUST, CHOOSE, LOGS, RESTART],
	};
}

/** What keeps experiments from being run, or from being run where one would expect. */
function wrong({ torch, hindrance, notice }: Environment): string {
	if (hindrance !== "" || notice !== "") {
		return sentence(hindrance === "" ? notice : hindrance);
	}
	return torch === null
		? "Findings are shown all the same; to confirm them, choose an interpreter that has torch."
		: "";
}

/** The tooltip in Markdown, with links to commands. */
export function tooltip({ detail, facts, offers }: StatusText): string {
	const table = ["| nonstrict | |", "|---|---|", ...facts.map(([name, value]) => `| ${name} | ${cell(value)} |`)];
	const links = offers.map(({ command, label, icon }) => `[$(${icon}) ${label}](command:${command})`);
	return [detail && escaped(detail), facts.length > 0 ? table.join("\n") : "", links.join(" · ")]
		.filter((part) => part !== "")
		.join("\n\n");
}

/** The same for a screen reader. */
export function spoken({ text, detail }: StatusText): string {
	return detail === "" ? text : `${text}. ${detail}`;
}

/** The first two numbers of a version. */
function release(version: string): string {
	return /^\d+\.\d+/.exec(version)?.[0] ?? version;
}

function sentence(text: string): string {
	const first = `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
	return first.endsWith(".") ? first : `${first}.`;
}

/** A value in a table of Markdown: as code if it is a path. */
function cell(value: string): string {
	return /[\\/]/.test(value) ? `\`${value.replaceAll("|", "\\|").replaceAll("`", "'")}\`` : escaped(value);
}

function escaped(text: string): string {
	return text.replace(/[\\*_{}[\]<>#|~$]/g, "\\$&");
}
