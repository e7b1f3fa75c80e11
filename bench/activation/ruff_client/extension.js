// Starts `ruff server` with the library that also nonstrict's extension has, and does nothing else.
const { LanguageClient } = require("vscode-languageclient/node");

let client;

exports.activate = async () => {
	const server = { command: process.env.BENCH_RUFF, args: ["server"] };
	const documents = [{ scheme: "file", language: "python" }];
	client = new LanguageClient("ruff", "ruff", server, { documentSelector: documents });
	await client.start();
};

exports.deactivate = () => client?.stop();
