// Builds the playground into out/: the page's scripts, the worker, Python, and the engine compiled for it.
// With --tests, the unit tests into out/test/. `scripts/bundle_playground.py` makes what is taken from bundled/.
import { createHash } from "node:crypto";
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { build } from "esbuild";
import { loadPyodide } from "pyodide";

const common = { bundle: true, target: "es2022", logLevel: "warning", legalComments: "none" };
const OUT = "out";
/** Parts of the standard library that no analysis uses: tools, servers, windows, what needs processes. */
const UNUSED = [
	"_android_support",
	"_apple_support",
	"_pyrepl",
	"antigravity",
	"doctest",
	"ftplib",
	"imaplib",
	"mailbox",
	"multiprocessing",
	"pdb",
	"pickletools",
	"poplib",
	"profile",
	"pydoc",
	"pydoc_data",
	"smtplib",
	"sqlite3",
	"this",
	"turtle",
	"unittest",
	"venv",
	"webbrowser",
	"wsgiref",
	"xml",
	"xmlrpc",
];

if (process.argv.includes("--tests")) {
	const tests = readdirSync("test").filter((name) => name.endsWith(".test.ts"));
	await build({
		...common,
		entryPoints: tests.map((name) => `test/${name}`),
		outdir: `${OUT}/test`,
		outExtension: { ".js": ".mjs" },
		format: "esm",
		platform: "node",
	});
} else {
	rmSync(OUT, { recursive: true, force: true });
	mkdirSync(OUT);
	await buildPlayground();
}

async function buildPlayground() {
	const pyodide = await python();
	await engine(pyodide.folder);
	const built = {
		lock: JSON.parse(readFileSync(join(pyodide.folder, "pyodide-lock.json"), "utf8")).info,
		engine: versioned("engine.zip"),
		pyodide: pyodide.path,
		stdlib: versioned("stdlib.zip"),
		sizes: Object.fromEntries(
			["engine.zip", "stdlib.zip", `${pyodide.path}pyodide.asm.wasm`].map((path) => [
				path.split("/").at(-1),
				size(path),
			]),
		),
	};
	await script("worker.ts", built);
	cpSync("bundled/examples.json", `${OUT}/examples.json`);
	const torches = JSON.parse(readFileSync("bundled/torches.json", "utf8"));
	await script("embed.ts", {
		...built,
		worker: versioned("worker.js"),
		examples: versioned("examples.json"),
		torches,
	});
	cpSync("src/index.html", `${OUT}/index.html`);
}

/** Takes over what a page loads of Pyodide; the folder names the version, as its files name one another. */
async function python() {
	const require = createRequire(import.meta.url);
	const folder = dirname(require.resolve("pyodide/package.json"));
	const { version } = require("pyodide/package.json");
	const path = `pyodide/${version}/`;
	for (const name of ["pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm"]) {
		cpSync(join(folder, name), `${OUT}/${path}${name}`);
	}
	return { folder, path };
}

/** Compiles the engine and the standard library. */
async function engine(folder) {
	const py = await loadPyodide({ indexURL: folder });
	const given = { "/engine.zip": "bundled/engine.zip", "/library.zip": join(folder, "python_stdlib.zip") };
	for (const [path, file] of Object.entries(given)) {
		py.FS.writeFile(path, new Uint8Array(readFileSync(file)));
	}
	py.runPython(readFileSync("python/compile_modules.py", "utf8"));
	py.globals.get("compile_engine")("/engine.zip", "/out.zip", "/lib/engine");
	writeFileSync(`${OUT}/engine.zip`, py.FS.readFile("/out.zip"));
	py.globals.get("compile_library")("/library.zip", "/out.zip", py.toPy(UNUSED));
	writeFileSync(`${OUT}/stdlib.zip`, py.FS.readFile("/out.zip"));
}

async function script(entry, built) {
	await build({
		...common,
		entryPoints: [`src/${entry}`],
		outdir: OUT,
		format: "esm",
		platform: "browser",
		splitting: entry === "embed.ts",
		chunkNames: "[name]-[hash]",
		minify: true,
		loader: { ".css": "text", ".py": "text" },
		define: { BUILT: JSON.stringify(built) },
	});
}

/** A path with a query that changes with the file, so that no browser mixes the files of two builds. */
function versioned(path) {
	const hash = createHash("sha256")
		.update(readFileSync(`${OUT}/${path}`))
		.digest("hex");
	return `${path}?v=${hash.slice(0, 12)}`;
}

function size(path) {
	return statSync(`${OUT}/${path}`).size;
}
