// Bundles the extension into dist/extension.js; with --tests, the unit tests into dist/test/.
import { readdirSync, rmSync } from "node:fs";
import { build } from "esbuild";

const common = { bundle: true, platform: "node", target: "node20", logLevel: "warning" };

rmSync("dist", { recursive: true, force: true });
await build({
	...common,
	entryPoints: ["src/extension.ts"],
	outfile: "dist/extension.js",
	format: "cjs",
	external: ["vscode"],
	minify: true,
});
if (process.argv.includes("--tests")) {
	const tests = readdirSync("test").filter((name) => name.endsWith(".test.ts"));
	await build({
		...common,
		entryPoints: tests.map((name) => `test/${name}`),
		outdir: "dist/test",
		format: "esm",
		outExtension: { ".js": ".mjs" },
		sourcemap: "inline",
	});
}
