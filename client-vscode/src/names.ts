// The names by which users, the server and tests know the parts of the extension.

export const ID = "nonstrict";
export const DISPLAY_NAME = "nonstrict";

/** Commands, as in the manifest. The server knows those that it runs by the same names. */
export const COMMANDS = {
	restart: "nonstrict.restart",
	showLogs: "nonstrict.showLogs",
	showStatus: "nonstrict.showStatus",
	chooseInterpreter: "nonstrict.chooseInterpreter",
	debugInformation: "nonstrict.debugInformation",
	checkWorkspace: "nonstrict.checkWorkspace",
	confirmFunction: "nonstrict.confirmFunction",
	confirmFile: "nonstrict.confirmFile",
	cancel: "nonstrict.cancel",
	showGraph: "nonstrict.showGraph",
	showCode: "nonstrict.showCode",
	writeRepro: "nonstrict.writeRepro",
	writeBaseline: "nonstrict.writeBaseline",
	explainRule: "nonstrict.explainRule",
	showChain: "nonstrict.showChain",
	showChainPicture: "nonstrict.showChainPicture",
	refreshRegions: "nonstrict.refreshRegions",
	showFindings: "nonstrict.showFindings",
	showRun: "nonstrict.showRun",
	trace: "nonstrict.trace",
	cancelTrace: "nonstrict.cancelTrace",
	confirmRegion: "nonstrict.confirmRegion",
	confirmRegions: "nonstrict.confirmRegions",
	showAllRegions: "nonstrict.showAllRegions",
	showConfirmedRegions: "nonstrict.showConfirmedRegions",
	showObservedRegions: "nonstrict.showObservedRegions",
} as const;

/** A command of the server that only its own actions run: it confirms a function after a fix. */
export const CONFIRM_FIXED = "nonstrict.confirmFixed";

/** The kind of what suppresses a finding, below that of quick fixes. */
export const SUPPRESS = "suppress";

/** Keys of `when` clauses. */
export const CONTEXT = {
	running: "nonstrict.running",
	confirming: "nonstrict.confirming",
	regions: "nonstrict.shownRegions",
} as const;

/** Messages of ours, beside those of the protocol. */
export const METHODS = {
	status: "nonstrict/status",
	environment: "nonstrict/environment",
	origins: "nonstrict/origins",
	chain: "nonstrict/chain",
	regions: "nonstrict/regions",
	regionsChanged: "nonstrict/regionsChanged",
	tests: "nonstrict/tests",
	test: "nonstrict/test",
	verdicts: "nonstrict/verdicts",
	verdictsChanged: "nonstrict/verdictsChanged",
} as const;

/** The scheme of documents that the server makes: graphs, generated code, pages of rules. */
export const SCHEME = "nonstrict";
export const TASK_TYPE = "nonstrict";
export const CHAIN_VIEW = "nonstrict.chain";
export const REGIONS_VIEW = "nonstrict.regions";
export const STATUS_ID = "nonstrict.status";
