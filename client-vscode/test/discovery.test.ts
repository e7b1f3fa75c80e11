import assert from "node:assert/strict";
import { test } from "node:test";
import { discover, type Sources } from "../src/discovery";

/** Sources that answer with what is given, and note who was asked. */
function sources(given: Partial<Record<keyof Sources, string | Error>>): { sources: Sources; asked: string[] } {
	const asked: string[] = [];
	const answer = (name: keyof Sources): string | undefined => {
		asked.push(name);
		const told = given[name];
		if (told instanceof Error) {
			throw told;
		}
		return told;
	};
	return {
		asked,
		sources: {
			setting: () => answer("setting"),
			environments: async () => answer("environments"),
			python: async () => answer("python"),
			path: () => answer("path"),
		},
	};
}

const everywhere = { setting: "/set", environments: "/envs", python: "/ext", path: "/path" };

test("the setting counts, and nobody else is asked", async () => {
	const told = sources(everywhere);
	assert.deepEqual(await discover(told.sources, true), { python: "/set", source: "setting" });
	assert.deepEqual(told.asked, ["setting"]);
});

test("then the Python Environments extension, the Python extension, the PATH", async () => {
	const { setting: _, ...unset } = everywhere;
	assert.deepEqual(await discover(sources(unset).sources, true), { python: "/envs", source: "environments" });
	const { environments: __, ...older } = unset;
	assert.deepEqual(await discover(sources(older).sources, true), { python: "/ext", source: "python" });
	assert.deepEqual(await discover(sources({ path: "/path" }).sources, true), { python: "/path", source: "path" });
	assert.equal(await discover(sources({}).sources, true), undefined);
});

test("an extension that fails, or names nothing, is passed over", async () => {
	const told = sources({ environments: new Error("not ready"), python: "", path: "/path" });
	assert.deepEqual(await discover(told.sources, true), { python: "/path", source: "path" });
});

test("in a workspace that is not trusted no extension is asked", async () => {
	const told = sources({ environments: "/envs", python: "/ext", path: "/path" });
	assert.deepEqual(await discover(told.sources, false), { python: "/path", source: "path" });
	assert.deepEqual(told.asked, ["setting", "path"]);
});
