// On a narrow screen (site.css), columns of sentences get room, and if the last one has them, it gets a line of its own.
const SENTENCE = 40;
for (const table of document.querySelectorAll(".md-typeset table:not([class])")) {
	const rows = [...table.tBodies].flatMap((body) => [...body.rows]);
	const long = (cell) => cell !== undefined && cell.textContent.length > SENTENCE && !cell.querySelector("pre");
	const columns = table.rows[0]?.cells.length ?? 0;
	const sentences = [...Array(columns).keys()].filter((column) => rows.some((row) => long(row.cells[column])));
	if (sentences.at(-1) === columns - 1 && (columns === 2 || sentences.length === 1)) table.dataset.stacked = "";
	else if (columns > 2)
		for (const { cells } of table.rows) for (const one of sentences) cells[one]?.setAttribute("data-long", "");
}

// A field above each long table, which leaves the rows that hold all of its words.
for (const part of document.querySelectorAll(".filtered")) {
	const rows = [...part.querySelectorAll("tbody tr")].map((row) => ({ row, text: row.textContent.toLowerCase() }));
	const label = document.createElement("label");
	const field = document.createElement("input");
	const count = document.createElement("output");
	label.className = "filter";
	field.type = "search";
	field.placeholder = "Filter: words, in any order";
	field.setAttribute("aria-label", "Filter the rows of the table");
	label.append(field, count);
	part.prepend(label);

	const show = () => {
		const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
		let shown = 0;
		for (const { row, text } of rows) {
			row.hidden = !words.every((word) => text.includes(word));
			shown += row.hidden ? 0 : 1;
		}
		count.textContent = `${shown} of ${rows.length}`;
	};
	field.addEventListener("input", show);
	show();
}
