const unfold = () => {
  for (let at = document.getElementById(location.hash.slice(1)); at; at = at.parentElement) if (at.localName === "details") at.open = true;
};
addEventListener("hashchange", unfold);
addEventListener("DOMContentLoaded", unfold);
addEventListener("beforeprint", () => document.querySelectorAll("details").forEach(folded => folded.open = true));
