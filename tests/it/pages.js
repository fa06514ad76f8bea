// What a reader of a page would stumble over. Each function lists its faults.

// Sticks out of the window at the right, and does not lie in something that scrolls of its own.
function sticksOut() {
  const wide = document.documentElement.clientWidth, scrolls = document.scrollingElement.scrollWidth;
  const faults = scrolls > wide ? [`the page is ${scrolls} px wide`] : [];
  for (const element of document.body.querySelectorAll("*")) {
    if (element.closest(".scroll, svg, script, style")) continue;
    const box = element.getBoundingClientRect();
    if (box.width && box.right > wide + 1) faults.push(`${element.tagName} ${element.className}: ${element.textContent.slice(0, 60)}`);
  }
  return faults;
}

// Text of a chart that is smaller than 9.5 CSS pixels, or leaves its chart.
function unreadable() {
  return [...document.querySelectorAll("figure svg text")].flatMap(text => {
    const box = text.getBoundingClientRect(), svg = text.ownerSVGElement, frame = svg.getBoundingClientRect();
    if (!box.width) return [];
    const size = parseFloat(getComputedStyle(text).fontSize) * frame.width / svg.viewBox.baseVal.width;
    const cut = box.left < frame.left - 1 || box.right > frame.right + 1 || box.bottom > frame.bottom + 1;
    return size < 9.5 || cut ? [`${text.textContent}: ${size.toFixed(1)} px${cut ? ", cut off" : ""}`] : [];
  });
}

// Ids that stand twice, links that lead nowhere on the page, skipped levels of headings, and what has no name.
function structure() {
  const faults = [], ids = new Set(), all = selector => [...document.querySelectorAll(selector)];
  for (const { id } of all("[id]")) {
    if (ids.has(id)) faults.push(`id ${id} twice`);
    ids.add(id);
  }
  for (const link of all('a[href^="#"]')) if (!ids.has(decodeURIComponent(link.hash.slice(1)))) faults.push(`${link.hash} leads nowhere`);
  all("h1, h2, h3, h4, h5, h6").map(heading => +heading.tagName[1]).reduce((before, level) => {
    if (level > before + 1) faults.push(`h${level} follows h${before}`);
    return level;
  }, 0);
  for (const one of ["h1", "main"]) if (all(one).length !== 1) faults.push(`${all(one).length} of ${one}`);
  for (const chart of all("figure svg")) {
    const named = chart.getAttribute("aria-label") || chart.querySelector("title");
    if (chart.getAttribute("role") !== "img" || !named) faults.push("a chart without a name");
  }
  for (const head of all("th")) if (!head.scope) faults.push(`th without a scope: ${head.textContent}`);
  for (const control of all("button, a, summary")) if (!control.textContent.trim()) faults.push("a control without a name");
  return faults;
}

// Every head of every sortable table sorts by its column, both ways, and says so.
function unsorted() {
  return [...document.querySelectorAll("table.sortable")].flatMap(table => [...table.tHead.rows[0].cells].flatMap((head, column) => {
    const faults = [];
    for (const [direction, sign] of [["ascending", 1], ["descending", -1]]) {
      head.querySelector("button").click();
      const values = [...table.tBodies[0].rows].map(row => row.cells[column].dataset.sort).filter(value => value).map(Number);
      if (head.getAttribute("aria-sort") !== direction) faults.push(`${head.textContent} does not say ${direction}`);
      if (!values.every((value, i) => i === 0 || sign * values[i - 1] <= sign * value)) faults.push(`${head.textContent} is not ${direction}`);
    }
    return faults;
  }));
}
