// The page is drawn anew where its version has changed, and keeps its place; the list of nodes is filled every second.
const live = document.getElementById("live"), made = live.querySelector("ol"), log = live.querySelector("pre"), head = live.querySelector("p");
let version = null, failures = 0;
const text = node => {
  const now = node.now ?? { state: node.planned }, done = now.done, figures = Object.entries(now.figures ?? {});
  const far = now.state === "making" && done ? ` ${done[0].toLocaleString("en")}${done[1] ? ` of ${done[1].toLocaleString("en")}` : ""} ${done[2]}` : "";
  const told = now.state === "making" ? figures.map(([name, value]) => `, ${name.replaceAll("_", " ")} ${Number(value.toPrecision(4))}`).join("") : "";
  return `${node.label}: ${now.state}${far}${told}${now.seconds ? `, ${now.seconds.toFixed(1)} s` : ""}${now.message ? `: ${now.message}` : ""}`;
};
const tick = async () => {
  try {
    const now = await (await fetch("now.json")).json();
    failures = 0;
    const ended = now.nodes.filter(node => node.now && !["making", "waiting"].includes(node.now.state)).length;
    head.textContent = `${now.outcome}: ${ended} of ${now.nodes.length} nodes are done`;
    made.replaceChildren(...now.nodes.filter(node => ["making", "waiting", "failed", "refused"].includes(node.now?.state)).map(node => {
      const item = document.createElement("li");
      item.textContent = text(node);
      return item;
    }));
    log.textContent = now.log.join("\n");
    if (version !== null && version !== now.version) {
      const page = new DOMParser().parseFromString(await (await fetch("/")).text(), "text/html");
      document.querySelector("main").replaceWith(page.querySelector("main"));
      document.dispatchEvent(new Event("drawn"));
    }
    version = now.version;
  } catch {
    failures += 1;
    if (failures > 3) head.textContent = "philidor watch has ended: this is how it was last";
  }
};
tick();
setInterval(tick, 1000);
