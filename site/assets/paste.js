// The search listens to keys alone: what is pasted with the mouse, or on a phone, is searched for too.
const search = document.querySelector("input[data-md-component=search-query]");
search?.addEventListener("input", () => search.dispatchEvent(new KeyboardEvent("keyup")));
