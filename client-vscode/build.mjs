// Bundles the extension into out/extension.js; with --tests, the unit tests into out/test/.
import { readdirSync, rmSync } from "node:fs";
import { build } from "esbuild";

const common = { bundle: true, platform: "node", target: "node20", logLevel: "warning" };

rmSync("out", { recursive: true, force: true });
await build({
	...common,
	entryPoints: ["src/extension.ts"],
	outfile: "out/extension.js",
	format: "cjs",
	external: ["vscode"],
	minify: true,
	// The language client is published in both forms; only the one for bundlers can be made small.
	mainFields: ["module", "main"],
});
if (process.argv.includes("--tests")) {
	const tests = readdirSync("test").filter((name) => name.endsWith(".test.ts"));
	await build({
		...common,
		entryPoints: tests.map((name) => `test/${name}`),
		outdir: "out/test",
		format: "esm",
		outExtension: { ".js": ".mjs" },
		sourcemap: "inline",
	});
}
