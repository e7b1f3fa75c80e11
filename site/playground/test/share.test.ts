import assert from "node:assert/strict";
import { test } from "node:test";
import { fragmentOf, LIMIT, LinkError, sharedIn } from "../src/share";

for (const code of ["", "x = 1\n", "näme = '🙂'\r\n", "\u0000\u2028", "a".repeat(LIMIT)]) {
	test(`a program of ${code.length} characters comes back`, async () => {
		assert.deepEqual(await sharedIn(await fragmentOf({ code, torch: "2.12" })), { code, torch: "2.12" });
		assert.deepEqual(await sharedIn(await fragmentOf({ code, torch: null })), { code, torch: null });
	});
}

test("a fragment is safe in an address", async () => {
	const code = Array.from({ length: 500 }, (_, number) => String.fromCodePoint(32 + number * 7)).join("");
	assert.match(await fragmentOf({ code, torch: null }), /^#code=[\w-]+$/);
});

test("a fragment that is about something else holds no program", async () => {
	assert.equal(await sharedIn(""), null);
	assert.equal(await sharedIn("#findings"), null);
});

for (const fragment of ["#code=", "#code=AAAA", "#code=%%%", "#code=xVA9", "#code=🙂"]) {
	test(`${fragment} is refused`, async () => {
		await assert.rejects(sharedIn(fragment), LinkError);
	});
}

test("what is cut off is refused", async () => {
	const whole = await fragmentOf({ code: "import torch\n".repeat(50), torch: null });
	await assert.rejects(sharedIn(whole.slice(0, -4)), LinkError);
});

test("a link that holds more than is analyzed is refused before all of it is unpacked", async () => {
	const fragment = await fragmentOf({ code: " ".repeat(30_000_000), torch: null });
	await assert.rejects(sharedIn(fragment), /more than 100,000 characters/);
});
