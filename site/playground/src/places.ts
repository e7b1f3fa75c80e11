// Where things are: files of the playground beside this script, and pages of the site around it, if there is one.

import type { Finding } from "./records";

const HERE = new URL(".", import.meta.url);
/** The folder of a site that this script is copied to; what lies above it is the site. */
const IN_SITE = /\/playground\/assets\/$/;

export function beside(path: string): URL {
	return new URL(path, HERE);
}

function site(): URL | null {
	return IN_SITE.test(HERE.pathname) ? new URL("../../", HERE) : null;
}

/** The page of a rule: in the site that this is a part of, or else where the engine says it is. */
export function ruleAddress(finding: Pick<Finding, "name" | "url">): string {
	const around = site();
	return around ? new URL(`rules/${finding.name}/`, around).href : (finding.url ?? "");
}

/** The page that is nothing but a playground. */
export function playgroundAddress(): string {
	const around = site();
	return (around ? new URL("playground/", around) : beside("index.html")).href;
}
