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
