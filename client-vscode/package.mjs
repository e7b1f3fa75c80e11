// Makes ../dist/nonstrict-VERSION.vsix of what `build.mjs` and `scripts/bundle_server.py` have made. Needs no network.
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { createVSIX } from "@vscode/vsce";

if (!existsSync("bundled/libs/nonstrict_server")) {
	throw new Error("bundled/libs is missing: `make package` makes it");
}
const { name, version } = JSON.parse(readFileSync("package.json", "utf8"));
mkdirSync("../dist", { recursive: true });
const packagePath = `../dist/${name}-${version}.vsix`;
await createVSIX({
	cwd: process.cwd(),
	packagePath,
	// The bundle holds them.
	dependencies: false,
	// .vscodeignore lists what goes in; to look for secrets in the libraries of the server takes many minutes.
	allowPackageAllSecrets: true,
	allowPackageEnvFile: true,
	baseContentUrl: "https://github.com/nonstrict/nonstrict/blob/main/client-vscode",
	baseImagesUrl: "https://raw.githubusercontent.com/nonstrict/nonstrict/main/client-vscode",
});
