// Ranks the sections of _static/sections.js by what was typed: words by BM25, none of which has to be there, and on top the
// longest run of words that a section's literal text has in common with it.
"use strict";

const [ADDRESS, PAGE, TITLE, TEXT, LITERALS, WEIGHT] = [0, 1, 2, 3, 4, 5];

// What stands for a whole kind of words, as the next user has another one of it: "sm_120", a mangled name.
const KINDS = [[/^sm_\d*[af]?$/, "sm_"], [/^compute_\d*[af]?$/, "compute_"], [/^_zn/, "_zn"], [/^_*nvjitlink[a-z]*(_\d+)*$/, "nvjitlink"]];

// Words that say nothing of what is looked for.
const QUIET = new Set("a an and are as at be by do does for from how i in is it my of on or the this to was what which with you your".split(" "));

function wordsOf(text) {
  const words = [];
  for (const word of text.toLowerCase().replace(/\x1b\[[0-9;]*[a-z]/g, " ").match(/[\p{L}\p{N}_]+/gu) || []) {
    if (QUIET.has(word)) continue;
    const kind = KINDS.find(([form]) => form.test(word));
    words.push(kind ? kind[1] : word.length > 4 && !/\d/.test(word) ? word.replace(/s$/, "") : word);
  }
  return words;
}

function countsOf(words) {
  const counts = new Map();
  for (const word of words) counts.set(word, (counts.get(word) || 0) + 1);
  return counts;
}

function prepare(sections) {
  const documents = sections.map((section) => {
    const title = wordsOf(section[TITLE]);
    const words = [...title, ...title, ...title, ...wordsOf(section[PAGE]), ...wordsOf(section[TEXT])];
    return {section, counts: countsOf(words), length: words.length, literals: section[LITERALS].map(wordsOf)};
  });
  const holders = new Map();
  for (const each of documents) for (const word of each.counts.keys()) holders.set(word, (holders.get(word) || 0) + 1);
  const average = documents.reduce((sum, each) => sum + each.length, 0) / documents.length;
  const rarity = (word) => Math.log(1 + (documents.length + 0.5) / ((holders.get(word) || 0) + 0.5));
  return {documents, average, rarity};
}

// The greatest sum of rarities of words that stand in a row in both, and the more the more of the literal that is.
function longestRun(literal, query, rarity) {
  let best = 0, words = 0, before = [];
  for (const word of literal) {
    const now = [];
    query.forEach((asked, at) => {
      if (asked !== word) return;
      const run = at && before[at - 1] || {sum: 0, words: 0};
      now[at] = {sum: run.sum + rarity(word), words: run.words + 1};
      if (now[at].sum > best) [best, words] = [now[at].sum, now[at].words];
    });
    before = now;
  }
  return words > 1 || literal.length === 1 ? best * (0.4 + 0.6 * words / literal.length) : 0;
}

// Versions and line numbers differ from user to user: with them, and without.
const withoutNumbers = (words) => words.filter((word) => !/^\d+$/.test(word));

function rank(index, text) {
  const query = wordsOf(/^\s*\d{1,3}\s*$/.test(text) ? "error " + text : text), bare = withoutNumbers(query), asked = new Set(query);
  const hits = [];
  for (const {section, counts, length, literals} of index.documents) {
    let score = 0;
    for (const word of asked) {
      const count = counts.get(word);
      if (count) score += index.rarity(word) * count * 2.2 / (count + 1.2 * (0.4 + 0.6 * length / index.average));
    }
    if (!score) continue;
    let run = 0;
    for (const literal of literals) {
      run = Math.max(run, longestRun(literal, query, index.rarity), longestRun(withoutNumbers(literal), bare, index.rarity));
    }
    hits.push({section, score: score / Math.sqrt(asked.size) * Math.min(1, section[WEIGHT]) + 2 * run * section[WEIGHT]});
  }
  return hits.sort((a, b) => b.score - a.score);
}

// Some letters around the place with the most of the words.
function excerpt(text, asked) {
  const span = 220;
  let best = 0, most = -1;
  for (let at = 0; at < text.length; at += 60) {
    const found = new Set(wordsOf(text.slice(at, at + span)).filter((word) => asked.has(word))).size;
    if (found > most) [best, most] = [at, found];
  }
  const begin = best && text.indexOf(" ", best) + 1;
  return (begin ? "… " : "") + text.slice(begin, begin + span) + (begin + span < text.length ? " …" : "");
}

function marked(text, asked) {
  const parent = document.createElement("p");
  for (const piece of text.split(/([\p{L}\p{N}_]+)/u)) {
    const found = wordsOf(piece).some((word) => asked.has(word) && word.length > 2);
    parent.appendChild(found ? Object.assign(document.createElement("mark"), {textContent: piece}) : document.createTextNode(piece));
  }
  return parent;
}

function show(query) {
  const hits = rank(prepare(archguardSections), query), asked = new Set(wordsOf(query));
  document.getElementById("ag-count").textContent =
    hits.length ? "" : "Nothing has any of these words. Troubleshooting lists every error; archguard explain knows numbers and names.";
  for (const {section} of hits.slice(0, 20)) {
    const item = document.createElement("li"), link = document.createElement("a");
    link.href = DOCUMENTATION_OPTIONS.URL_ROOT + section[ADDRESS];
    link.textContent = section[TITLE];
    item.append(link, Object.assign(document.createElement("small"), {textContent: section[PAGE]}), marked(excerpt(section[TEXT], asked), asked));
    document.getElementById("ag-results").append(item);
  }
}

const asked = new URLSearchParams(window.location.search).get("q") || "";
for (const field of document.querySelectorAll('[name="q"]')) field.value = asked;
if (asked.trim()) show(asked);
document.body.dataset.ready = "yes";
