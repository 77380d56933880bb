// Light, dark, and as the system has it; and where on the page one is. Furo brings both, but Debian's furo.js is a module that pages
// load as a script, so that it never runs: where it did, the page says so.
"use strict";

document.addEventListener("DOMContentLoaded", () => {
  const root = document.documentElement;
  if (!root.classList.contains("no-js")) return;
  root.classList.remove("no-js");

  const next = {auto: "light", light: "dark", dark: "auto"};
  for (const button of document.querySelectorAll(".theme-toggle")) {
    button.addEventListener("click", () => {
      document.body.dataset.theme = next[document.body.dataset.theme] || "auto";
      localStorage.setItem("theme", document.body.dataset.theme);
    });
  }

  const links = new Map([...document.querySelectorAll(".toc-tree a")].map((link) => [link.hash.slice(1), link]));
  const sections = [...document.querySelectorAll("article section[id]")].filter((section) => links.has(section.id));
  const mark = () => {
    const current = sections.filter((section) => section.getBoundingClientRect().top < 120).pop();
    for (const [id, link] of links) link.parentElement.classList.toggle("scroll-current", !!current && id === current.id);
  };
  document.addEventListener("scroll", mark, {passive: true});
  mark();
});
