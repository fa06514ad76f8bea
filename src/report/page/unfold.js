// What is folded is printed, and a link into it opens it, and all that it lies in.
const unfold = () => {
  const wanted = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  for (let at = wanted; at; at = at.parentElement) if (at.localName === "details") at.open = true;
  wanted?.scrollIntoView();
};
addEventListener("hashchange", unfold);
addEventListener("beforeprint", () => document.querySelectorAll("main details").forEach(folded => { folded.open = true; }));
// A telephone begins with what is short.
if (matchMedia("(max-width: 560px)").matches) document.querySelectorAll("details.fold").forEach(folded => { folded.open = false; });
if (location.hash) unfold();
