const sortable = () => {
  for (const table of document.querySelectorAll("table.sortable")) {
    const heads = [...table.tHead.rows[0].cells], body = table.tBodies[0];
    heads.forEach((head, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = head.textContent;
      head.replaceChildren(button);
      head.setAttribute("aria-sort", "none");
      button.addEventListener("click", () => {
        const down = head.getAttribute("aria-sort") === "ascending";
        heads.forEach(other => other.setAttribute("aria-sort", "none"));
        head.setAttribute("aria-sort", down ? "descending" : "ascending");
        const value = row => row.cells[column].dataset.sort ?? row.cells[column].textContent;
        const compare = (a, b) => isNaN(a) || isNaN(b) ? String(a).localeCompare(String(b), "en", { numeric: true }) : a - b;
        body.append(...[...body.rows].sort((a, b) => compare(value(a), value(b)) * (down ? -1 : 1)));
      });
    });
  }
};
sortable();
document.addEventListener("drawn", sortable);
