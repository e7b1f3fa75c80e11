// A program in the fragment of an address: `#code=` and the text, deflated, in base64url. Nothing leaves the browser.

/** Programs of more characters are not analyzed here. */
export const LIMIT = 100_000;

export interface Shared {
	code: string;
	torch: string | null;
}

/** Says for people why a link holds no program. */
export class LinkError extends Error {}

export async function fragmentOf({ code, torch }: Shared): Promise<string> {
	const bytes = new Blob([code]).stream().pipeThrough(new CompressionStream("deflate-raw"));
	const packed = new Uint8Array(await new Response(bytes).arrayBuffer());
	const chosen = torch ? `&torch=${encodeURIComponent(torch)}` : "";
	return `#code=${base64(packed)}${chosen}`;
}

/** The program that a fragment holds, or null if it speaks of none. */
export async function sharedIn(fragment: string): Promise<Shared | null> {
	const fields = new URLSearchParams(fragment.replace(/^#/, ""));
	const packed = fields.get("code");
	if (packed === null) {
		return null;
	}
	const code = await unpacked(bytesOf(packed));
	return { code, torch: fields.get("torch") };
}

function base64(bytes: Uint8Array): string {
	const text = Array.from(bytes, (byte) => String.fromCharCode(byte)).join("");
	return btoa(text).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

function bytesOf(packed: string): Uint8Array<ArrayBuffer> {
	try {
		const text = atob(packed.replaceAll("-", "+").replaceAll("_", "/"));
		return Uint8Array.from(text, (character) => character.charCodeAt(0));
	} catch {
		throw broken();
	}
}

/** Stops where the text gets too long, so that a small link cannot fill the memory. */
async function unpacked(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
	const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
	const reader = stream.pipeThrough(new TextDecoderStream("utf-8", { fatal: true })).getReader();
	let code = "";
	try {
		for (let part = await reader.read(); !part.done; part = await reader.read()) {
			code += part.value;
			if (code.length > LIMIT) {
				throw new LinkError(`The link holds more than ${LIMIT.toLocaleString("en")} characters.`);
			}
		}
	} catch (error) {
		reader.cancel().catch(() => undefined);
		throw error instanceof LinkError ? error : broken();
	}
	return code;
}

function broken(): LinkError {
	return new LinkError("The link holds no program: a part of it is missing or was changed.");
}
