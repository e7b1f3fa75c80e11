// The worker of the search: the theme's own, which finds words, and for several words their order.
//
// The theme asks for pages with any of the words, those that have one in their title first. A message of torch has twenty
// words, most of them everywhere, so that the page that quotes it would come last. Here it comes first: pages are ordered
// by how long the parts are that they have in common with what was asked, word by word.

const SETUP = 0;
const QUERY = 2;
const RESULT = 3;
/** From so many words on, a query is a text that was pasted: which of them a page does not have is no news. */
const TEXT = 5;
/** What the query language takes for operators: `field:word`, `+must`, `-not`, `near~1`, `boosted^2`, `any*`. */
const OPERATORS = /[:+\-~^*"]+/g;
/** Ids in titles, which messages do not have. */
const ID = /^GB\d+: /;

/** A code of a rule among the words of a title. */
const RULE = /^nst\d+$/;

/** Names of torch's exceptions, which many pages have. */
const EXCEPTION = /\b(?:\w+\.)+exc\.\w+/g;

/** By its location the words of a page with its sections, those of a section, and those of their titles. */
const texts = new Map();
/** The words of the query that is being answered. */
let asked = [];

const wordsOf = (text) => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
const joined = (words) => ` ${words.join(" ")} `;
const plain = (html) => html.replace(/<[^>]*>/g, " ").replace(/&[a-z]+;/g, " ");

/** The lengths of the parts of a query that a text has in the same words. */
const runs = (words, text) => {
	const lengths = [];
	for (let from = 0; from < words.length; ) {
		let run = 0;
		while (from + run < words.length && text.includes(joined(words.slice(from, from + run + 1)))) run += 1;
		if (run > 1) lengths.push(run);
		from += Math.max(1, run);
	}
	return lengths;
};

/** How much of the query a page or section has: long parts before short ones, then the page whose title is in it. */
const inCommon = (location) => {
	const { text, title, boost } = texts.get(location);
	const sum = runs(asked, text).reduce((all, run) => all + run ** 2, 0);
	return sum && boost * sum + Math.max(0, ...runs(title, joined(asked))) / title.length;
};

/** The code of a rule whose page it is, "" for other pages. */
const codeOf = ([{ location }]) => texts.get(location.split("#")[0]).title.find((word) => RULE.test(word)) ?? "";

/** Of rules that quote the same message, the first of a group is the most frequent one. */
const byCode = (one, other) => (asked.length < TEXT ? 0 : codeOf(one).localeCompare(codeOf(other)));

/** The pages of a result, each a list of sections, in the order of what they have in common with the query. */
const ordered = (pages) => {
	const known = new Map();
	for (const sections of pages) {
		known.set(sections, Math.max(...sections.map(({ location }) => inCommon(location))));
		for (const section of sections) {
			if (asked.length < TEXT) continue;
			// The theme shows the sections with the highest score, and folds the others.
			section.score = inCommon(section.location);
			section.terms = Object.fromEntries(Object.entries(section.terms).filter(([, found]) => found));
		}
		sections.sort((one, other) => other.score - one.score);
	}
	return pages.sort((one, other) => known.get(other) - known.get(one) || byCode(one, other));
};

addEventListener("message", ({ data }) => {
	if (data.type === SETUP) {
		for (const { location, title, text, boost = 1 } of data.data.docs) {
			const words = joined(wordsOf(plain(`${title} ${text}`)));
			texts.set(location, { text: words, title: wordsOf(plain(title).replace(ID, "")), boost });
			const page = texts.get(location.split("#")[0]);
			if (page !== texts.get(location)) page.text += `| ${words}`;
		}
	} else if (data.type === QUERY) {
		asked = wordsOf(data.data.replace(EXCEPTION, ""));
		const words = data.data.replace(OPERATORS, " ").trim().split(/\s+/);
		// All but the last word are whole: `^1` keeps the theme from asking for all that begins like them.
		data.data = words.map((word, index) => (index < words.length - 1 ? `${word}^1` : word)).join(" ");
	}
});

const send = self.postMessage.bind(self);
self.postMessage = (message) => {
	if (message.type === RESULT && asked.length > 1) message.data.items = ordered(message.data.items);
	send(message);
};

// The theme's own worker, whose name is that of its version: main.html hands it over.
importScripts(`javascripts/workers/${location.search.slice(1)}`);

// lunr.js 2.3.9 merges the nodes of its index that have the same key, and writes a key as labels and ids with nothing in
// between: the edge `1` to node 12 and the edge `11` to node 2 look the same. Different nodes were merged so, and words
// like `NST701` led to words that no page has. With separators, keys are the same for the same edges only.
lunr.TokenSet.prototype.toString = function () {
	if (this._str) return this._str;
	const edges = Object.keys(this.edges).sort();
	return (this.final ? "1" : "0") + edges.map((label) => `;${label}${this.edges[label].id}`).join("");
};
