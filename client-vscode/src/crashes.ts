// How often a server may end by itself before it is left alone.

const ALLOWED = 4;
/** Time within which that many are too many (ms). */
const WINDOW = 3 * 60 * 1000;

/** Counts the ends of a server. */
export class Crashes {
	private times: number[] = [];

	/** How many there were within the window. */
	get count(): number {
		return this.times.length;
	}

	/** The server ended once more, at a time in ms; whether it is worth another try. */
	another(now: number = Date.now()): boolean {
		this.times = [...this.times.filter((time) => now - time < WINDOW), now];
		return this.times.length <= ALLOWED;
	}
}
