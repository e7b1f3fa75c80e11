/** What the build knows of its own files: paths from the folder of embed.js, and sizes in bytes. */
declare const BUILT: {
	/** The worker, with its version as a query: a browser must not mix files of two builds. */
	worker: string;
	engine: string;
	stdlib: string;
	pyodide: string;
	/** For which Python packages of Pyodide are, as its lock file says. */
	lock: { arch: "wasm32"; platform: string; version: string; python: string; abi_version: string };
	examples: string;
	/** Bytes by the last part of a file's path. */
	sizes: Readonly<Record<string, number>>;
	/** Releases of torch, the one that is taken at first being the first. */
	torches: readonly string[];
};

declare module "*.css" {
	const text: string;
	export default text;
}

declare module "*.py" {
	const text: string;
	export default text;
}
