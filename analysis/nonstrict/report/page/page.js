// Filters the findings of the page, and walks among them by keys. Without it, everything is shown.
(() => {
	const form = document.getElementById("filters");
	if (!form) return;
	const findings = [...document.querySelectorAll(".finding")];
	const groups = [...document.querySelectorAll("section.file")];
	const boxes = [...form.querySelectorAll("[name=severity]")];
	const search = form.elements.q;
	const shortcuts = form.elements.shortcuts;
	const choices = ["rule", "file", "verdict"].map((name) => form.elements[name]).filter(Boolean);
	let texts = null;
	let current = null;
	let waiting = 0;

	/** The texts of the findings, which are long to make and only needed for a search. */
	const textOf = (index) => {
		texts ??= findings.map((one) => one.textContent.toLowerCase());
		return texts[index];
	};

	const apply = () => {
		const severities = new Set(boxes.filter((one) => one.checked).map((one) => one.value));
		const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
		const chosen = choices.filter((one) => one.value !== "");
		let count = 0;
		findings.forEach((one, index) => {
			const shown =
				severities.has(one.dataset.severity) &&
				chosen.every((choice) => one.dataset[choice.name] === choice.value) &&
				words.every((word) => textOf(index).includes(word));
			one.hidden = !shown;
			count += shown ? 1 : 0;
		});
		for (const group of groups) group.hidden = !group.querySelector(".finding:not([hidden])");
		const all = findings.length;
		const noun = all === 1 ? "finding" : "findings";
		form.elements.told.value = count === all ? `${all} ${noun}` : `${count} of ${all} ${noun}`;
	};

	/** The filter as the part of an address behind `#`; empty if everything is shown. */
	const written = () => {
		const parts = [];
		const add = (name, value) => parts.push(`${name}=${encodeURIComponent(value).replaceAll("%2F", "/")}`);
		if (!boxes.every((one) => one.checked)) {
			add(
				"severity",
				boxes
					.filter((one) => one.checked)
					.map((one) => one.value)
					.join("+"),
			);
		}
		for (const choice of choices) if (choice.value !== "") add(choice.name, choice.value);
		if (search.value.trim()) add("q", search.value.trim());
		if (!shortcuts.checked) add("keys", "off");
		return parts.join("&").replaceAll("%2B", "+");
	};

	const changed = () => {
		apply();
		const filter = written();
		history.replaceState(null, "", filter ? `#${filter}` : location.pathname + location.search);
	};

	const clear = () => {
		for (const one of [...boxes, shortcuts]) one.checked = true;
		for (const one of choices) one.value = "";
		search.value = "";
	};

	/** Sets the controls by what an address says. */
	const read = (hash) => {
		clear();
		for (const part of hash.split("&")) {
			const at = part.indexOf("=");
			const name = part.slice(0, at);
			let value = "";
			try {
				value = decodeURIComponent(part.slice(at + 1));
			} catch {
				continue;
			}
			const choice = choices.find((one) => one.name === name);
			if (choice) choice.value = [...choice.options].some((one) => one.value === value) ? value : "";
			if (name === "q") search.value = value;
			if (name === "keys") shortcuts.checked = value !== "off";
			if (name === "severity") for (const one of boxes) one.checked = value.split("+").includes(one.value);
		}
		apply();
	};

	/** What an address asks for: a filter, or a place, which is shown whatever the filter was. */
	const follow = () => {
		const hash = location.hash.slice(1);
		if (hash.includes("=")) {
			read(hash);
			return true;
		}
		const target = document.getElementById(hash);
		if (!target) return false;
		const finding = target.closest(".finding");
		if (finding?.hidden) {
			clear();
			apply();
		}
		if (finding) go(finding);
		return false;
	};

	const go = (finding) => {
		current = finding;
		// Code that is wider than the page is scrolled by keys once it has the focus.
		for (const code of finding.querySelectorAll(".code")) if (code.scrollWidth > code.clientWidth) code.tabIndex = 0;
		finding.focus({ preventScroll: true });
		finding.scrollIntoView({ block: "start" });
	};

	const step = (by) => {
		const shown = findings.filter((one) => !one.hidden);
		const inside = document.activeElement?.closest(".finding");
		const at = shown.indexOf(inside ?? current);
		const next = at < 0 ? (by > 0 ? 0 : shown.length - 1) : at + by;
		if (shown[next]) go(shown[next]);
	};

	const bar = new ResizeObserver(() => {
		const sticky = getComputedStyle(form).position === "sticky";
		document.documentElement.style.setProperty("--bar", sticky ? `${form.offsetHeight}px` : "0px");
	});

	form.hidden = false;
	bar.observe(form);
	form.addEventListener("submit", (event) => event.preventDefault());
	form.addEventListener("change", changed);
	form.addEventListener("reset", (event) => {
		event.preventDefault();
		clear();
		changed();
	});
	search.addEventListener("input", () => {
		clearTimeout(waiting);
		waiting = setTimeout(changed, findings.length > 500 ? 150 : 0);
	});
	search.addEventListener("keydown", (event) => {
		if (event.key !== "Escape" && event.key !== "Enter") return;
		event.preventDefault();
		if (event.key === "Escape" && search.value) {
			search.value = "";
		}
		changed();
		current = null;
		step(1);
	});
	document.addEventListener("keydown", (event) => {
		if (!shortcuts.checked || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
		if (event.target.closest("input:not([type=checkbox]), select, textarea")) return;
		if (event.key === "/") {
			event.preventDefault();
			search.focus();
			search.select();
		} else if (event.key === "j") {
			step(1);
		} else if (event.key === "k") {
			step(-1);
		}
	});
	window.addEventListener("hashchange", () => {
		if (follow()) document.getElementById("findings").scrollIntoView();
	});
	follow();
})();
