// What the status item says.

/** What the server knows of the folder of the active document. */
export interface Environment {
	readonly torch: string | null;
	/** Empty while it is not known. */
	readonly device: string;
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

/** The item as it is shown. */
export interface StatusText {
	readonly text: string;
	readonly detail: string;
	readonly busy: boolean;
	readonly severity: "information" | "warning" | "error";
}

/** Put a situation into words. */
export function statusText({ phase, environment, busy, activity }: Situation): StatusText {
	const plain = { busy: false, severity: "information" } as const;
	switch (phase) {
		case "off":
			return { ...plain, text: "nonstrict · off", detail: "No server is running." };
		case "starting":
			return { ...plain, text: "nonstrict · starting", detail: "", busy: true };
		case "failed":
			return { text: "nonstrict · failed", detail: "The log says why.", busy: false, severity: "error" };
		case "running":
			return running(environment, busy, activity);
	}
}

function running(environment: Environment | undefined, busy: boolean, activity: string): StatusText {
	if (environment === undefined) {
		return { text: "nonstrict", detail: "", busy, severity: "information" };
	}
	const { torch, device, hindrance } = environment;
	if (torch === null) {
		return {
			text: "nonstrict · no torch",
			detail: "Findings are shown all the same; to confirm them, choose an interpreter that has torch.",
			busy,
			severity: "warning",
		};
	}
	const parts = ["nonstrict", `torch ${release(torch)}`, device].filter((part) => part !== "");
	const detail = busy ? `confirming${activity === "" ? "" : `: ${activity}`}` : hindrance;
	return { text: parts.join(" · "), detail, busy, severity: "information" };
}

/** The first two numbers of a version. */
function release(version: string): string {
	return /^\d+\.\d+/.exec(version)?.[0] ?? version;
}
