// The page is drawn anew where its version has changed, and keeps its place; what is above it is filled every second.
const live = document.getElementById("live"), [head, stages, making, log] = ["p", "ul", "ol", "pre"].map(name => live.querySelector(name));
let version = null, failures = 0;
const ENDED = ["kept", "made", "failed", "refused", "skipped"], SHOWN = ["making", "waiting", "failed", "refused"];
const element = (name, text, children = []) => {
  const made = document.createElement(name);
  made.textContent = text;
  made.append(...children);
  return made;
};
const duration = seconds => seconds < 90 ? `${Math.ceil(seconds)} s` : seconds < 5400 ? `${Math.round(seconds / 60)} min` : `${(seconds / 3600).toFixed(1)} h`;
const bar = ([done, total]) => {
  const made = document.createElement("progress");
  [made.max, made.value, made.ariaLabel] = [total, done, "done of this work"];
  return made;
};
const row = ({ label, points, state, now }) => {
  const far = state === "making" && now?.done, told = [`${label}${points ? `, ${points}` : ""}`];
  if (far) told.push(`${far[0].toLocaleString("en")}${far[1] ? ` of ${far[1].toLocaleString("en")}` : ""} ${far[2]}`);
  else told.push(state);
  if (far && now.left_seconds) told.push(`${duration(now.left_seconds)} left`);
  if (state === "making") told.push(...Object.entries(now.figures).map(([name, value]) => `${name.replaceAll("_", " ")} ${Number(value.toPrecision(4))}`));
  if (now?.message) told.push(now.message);
  return element("li", told.join(" · "), far && far[1] ? [bar(far)] : []);
};
// One item a stage, in the order of the plan: ticked once nothing of it is left to do.
const tally = nodes => [...Map.groupBy(nodes, node => node.stage)].map(([stage, all]) => {
  const ended = all.filter(node => ENDED.includes(node.state)).length, bad = all.some(node => ["failed", "refused"].includes(node.state));
  const mark = bad ? "✗" : ended === all.length ? "✓" : all.some(node => node.state === "making") ? "●" : "○";
  return element("li", `${mark} ${stage.replaceAll("_", " ")}${all.length > 1 ? ` ${ended} of ${all.length}` : ""}`);
});
const tick = async () => {
  try {
    const now = await (await fetch("now.json")).json();
    failures = 0;
    const far = `${now.outcome}: ${now.nodes.filter(node => ENDED.includes(node.state)).length} of ${now.nodes.length} nodes are done`;
    // Whoever listens hears what changed, and not every second the same.
    if (head.textContent !== far) head.textContent = far;
    stages.replaceChildren(...tally(now.nodes));
    making.replaceChildren(...now.nodes.filter(node => SHOWN.includes(node.state)).map(row));
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
