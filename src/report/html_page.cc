// Style and script of the page. Names are text of others: they become textContent, and nothing is innerHTML.
#include "report/html.h"

namespace archguard {

const std::string_view kHtmlStyle = R"css(
:root {
  color-scheme: light dark;
  --page: #ffffff; --text: #1b1f24; --soft: #4f5761; --line: #c9ced6; --head: #eef1f5; --link: #0b4fb3;
  --sass-back: #d5f0dc; --sass-text: #0b4a1e; --ptx-back: #dbe9ff; --ptx-text: #0b3d8a;
  --bad-back: #ffd8d4; --bad-text: #8b0c0c; --warn-back: #ffedb8; --warn-text: #5c4000;
  --unknown-back: #e3e0ec; --unknown-text: #3c3550; --other-back: #eceff3; --other-text: #3a424c;
  --stored-bar: #2463b8; --inflated-bar: #7a8796;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #14171c; --text: #e6e9ee; --soft: #a9b2be; --line: #39414c; --head: #1e232b; --link: #8ab8ff;
    --sass-back: #12391f; --sass-text: #b5f0c5; --ptx-back: #12305c; --ptx-text: #c6dcff;
    --bad-back: #5a1513; --bad-text: #ffd4d0; --warn-back: #4a3700; --warn-text: #ffe59a;
    --unknown-back: #35304a; --unknown-text: #e0daf5; --other-back: #262c35; --other-text: #cfd6df;
    --stored-bar: #6ea8ff; --inflated-bar: #66717f;
  }
}
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 1rem; max-width: 100rem; background: var(--page); color: var(--text);
  font: 16px/1.45 system-ui, sans-serif; }
h1 { font-size: 1.4rem; margin: 0 0 .25rem; }
h2 { font-size: 1.1rem; margin: 1.5rem 0 .5rem; }
h3 { font-size: 1rem; margin: 1rem 0 .3rem; }
code, .name, dd { font-family: ui-monospace, monospace; font-size: .9em; overflow-wrap: anywhere; }
.soft { color: var(--soft); }
.badge, td, .key span { border-radius: .2rem; }
.badge { display: inline-block; padding: .1rem .5rem; }
.sass { background: var(--sass-back); color: var(--sass-text); }
.ptx { background: var(--ptx-back); color: var(--ptx-text); }
.bad { background: var(--bad-back); color: var(--bad-text); font-weight: 600; }
.warn { background: var(--warn-back); color: var(--warn-text); }
.unknown { background: var(--unknown-back); color: var(--unknown-text); font-weight: 600; }
.other { background: var(--other-back); color: var(--other-text); }
.controls { display: flex; flex-wrap: wrap; gap: .5rem 1rem; align-items: center; margin: 1rem 0 .5rem; }
input[type=search] { flex: 1 1 14rem; min-width: 0; font: inherit; padding: .4rem .6rem; color: inherit;
  background: var(--page); border: 1px solid var(--soft); border-radius: .3rem; }
::placeholder { color: var(--soft); opacity: 1; }
label { display: inline-flex; gap: .4rem; align-items: center; }
.key { display: flex; flex-wrap: wrap; gap: .25rem .75rem; margin: .5rem 0; font-size: .9rem; }
.key span { padding: 0 .4rem; }
.frame { overflow: auto; max-height: 75vh; border: 1px solid var(--line); border-radius: .3rem; }
table { border-collapse: separate; border-spacing: 0; font-size: .9rem; }
th { text-align: left; font-weight: 600; background: var(--head); padding: .25rem .5rem; }
thead th { position: sticky; top: 0; z-index: 2; border-bottom: 1px solid var(--line); white-space: nowrap; }
thead th:first-child { left: 0; z-index: 3; }
tbody th { position: sticky; left: 0; z-index: 1; font-weight: 400; max-width: 40rem; min-width: 16rem;
  border-right: 1px solid var(--line); overflow-wrap: anywhere; }
td { text-align: center; padding: .25rem .5rem; min-width: 3rem; cursor: pointer;
  border: 1px solid var(--page); white-space: nowrap; }
th[tabindex] { cursor: pointer; }
:focus-visible { outline: 3px solid var(--link); outline-offset: -3px; }
dialog { width: min(52rem, calc(100vw - 1rem)); max-height: calc(100vh - 2rem); padding: 1rem;
  color: var(--text); background: var(--page); border: 1px solid var(--soft); border-radius: .4rem; }
dialog::backdrop { background: rgba(0, 0, 0, .5); }
dialog h2 { margin: 0 2.5rem .5rem 0; overflow-wrap: anywhere; }
dialog .close { position: absolute; top: .6rem; right: .6rem; }
button { font: inherit; color: inherit; background: var(--head); border: 1px solid var(--soft);
  border-radius: .3rem; padding: .2rem .6rem; cursor: pointer; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .15rem .75rem; margin: .4rem 0; }
dt { color: var(--soft); }
dd { margin: 0; }
summary { cursor: pointer; overflow-wrap: anywhere; padding: .15rem 0; }
details, .finding { border-top: 1px solid var(--line); padding: .3rem 0; }
ul { margin: .3rem 0; padding-left: 1.2rem; }
.bars { list-style: none; padding: 0; margin: 0; max-width: 64rem; font-size: .95rem; }
.weighed { display: grid; grid-template-columns: 14rem 1fr 22rem; gap: 0 .75rem;
  align-items: center; padding: .15rem 0; }
.weighed .name { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.bars summary { list-style: none; grid-template-columns: 1fr 22rem; }
.bars summary .name { grid-column: 1 / -1; }
.bars summary .name::before { content: '\25b8  '; }
.bars summary:focus-visible { outline-offset: 1px; }
.bars [open] .name::before { content: '\25be  '; }
.bars summary::-webkit-details-marker { display: none; }
.bar { display: block; height: .8rem; position: relative; }
.bar i { position: absolute; left: 0; height: 100%; min-width: 1px; border-radius: .15rem; }
.stored { background: var(--stored-bar); }
.inflated { background: var(--inflated-bar); }
.bar .stored { top: .15rem; height: .5rem; }
.key .mark { display: inline-block; width: 1.5rem; height: .6rem; }
@media (max-width: 40rem) {
  .weighed, .bars summary { grid-template-columns: 1fr; padding: .3rem 0; }
  body { padding: .5rem; }
  tbody th { max-width: 45vw; min-width: 0; font-size: .8rem; }
  dl { grid-template-columns: 1fr; }
  dd { margin-bottom: .3rem; }
}
)css";

const std::string_view kHtmlScript = R"js(
'use strict';
(function () {
  const data = JSON.parse(document.getElementById('data').textContent);
  const width = data.classes.length, step = 100;
  const find = (id) => document.getElementById(id);
  function make(tag, name, text) {
    const node = document.createElement(tag);
    if (name) node.className = name;
    if (text !== undefined) node.textContent = text;
    return node;
  }
  const isBad = (cell) => data.cells[cell].look === 'bad' || data.cells[cell].look === 'unknown';
  const rows = data.rows.map((row, number) => ({row, number, bad: row.cells.filter(isBad).length,
    names: row.files.map((file) => data.files[file].toLowerCase())}));
  rows.sort((a, b) => (b.bad > 0) - (a.bad > 0) || a.number - b.number);

  // What is looked for: rows, and in each the first file that matches.
  let shown = [], made = 0;
  const body = find('rows'), count = find('count');
  function look() {
    const words = find('search').value.toLowerCase().split(/\s+/).filter(Boolean), failing = find('failing').checked;
    shown = [];
    let files = 0;
    for (const each of rows) {
      if (failing && !each.bad) continue;
      const hits = [];
      each.names.forEach((name, i) => { if (words.every((word) => name.includes(word))) hits.push(each.row.files[i]); });
      if (!hits.length) continue;
      files += hits.length;
      shown.push({row: each.row, hits});
    }
    made = 0;
    body.replaceChildren();
    count.textContent = files + (files === 1 ? ' file in ' : ' files in ') + shown.length + (shown.length === 1 ? ' row' : ' rows');
    more();
  }
  function more() {
    const part = document.createDocumentFragment();
    for (const end = Math.min(made + step, shown.length); made < end; ++made) part.append(rowOf(shown[made], made));
    body.append(part);
  }
  function rowOf(item, index) {
    const line = make('tr');
    const head = make('th', 'name', data.files[item.hits[0]]);
    head.scope = 'row';
    if (item.hits.length > 1) head.append(make('span', 'soft', ' and ' + (item.hits.length - 1) + ' more'));
    head.tabIndex = -1;
    head.dataset.row = index;
    head.dataset.column = 0;
    line.append(head);
    item.row.cells.forEach((cell, column) => {
      const about = data.cells[cell], box = make('td', about.look, about.letter);
      box.tabIndex = -1;
      box.dataset.row = index;
      box.dataset.column = column + 1;
      box.setAttribute('aria-label', data.classes[column].title + ': ' + about.text);
      line.append(box);
    });
    if (index === 0) (line.children[1] || head).tabIndex = 0;
    return line;
  }
  new IntersectionObserver((seen) => { if (seen.some((each) => each.isIntersecting)) more(); },
    {root: find('frame'), rootMargin: '800px'}).observe(find('end'));

  // What a cell, or a row, is about.
  const filesOf = data.findings.map((finding) => new Set(finding.files));
  function findingsOf(files, column) {
    return data.findings.filter((finding, i) => files.some((file) => filesOf[i].has(file)) &&
      (column < 0 || !finding.classes.length || finding.classes.includes(column)));
  }
  // Of one class of devices: its own cause and fix, and what mends all of them.
  function detailsOf(finding, column) {
    const own = finding.of_classes[finding.classes.indexOf(column)];
    if (!own) return finding.details;
    const isFix = (label) => label === 'fix' || label.startsWith('fix for ');
    const kept = finding.details.filter(({label}) => label !== 'on' && label !== 'cause' && !isFix(label));
    if (own.cause) kept.push({label: 'cause', text: own.cause});
    if (own.fix) kept.push({label: 'fix', text: own.fix});
    const all = finding.details.find(({label}) => label === 'fix');
    if (all && all.text !== own.fix) kept.push({label: 'fix for all', text: all.text});
    return kept;
  }
  function listOf(finding, column) {
    const list = make('dl');
    for (const {label, text} of detailsOf(finding, column)) list.append(make('dt', '', label), make('dd', '', text));
    return list;
  }
  function headOf(node, finding) {
    const look = {warning: 'warn', unknown: 'unknown', error: 'bad'}[finding.level];
    node.append(make('span', 'badge ' + look, finding.kind), ' ',
      make('span', 'name', (finding.where ? finding.where + ': ' : '') + finding.what));
    return node;
  }
  function open(index, column) {
    const item = shown[index], panel = find('panel'), content = find('content');
    const files = item.hits, first = data.files[files[0]];
    content.replaceChildren(make('h2', 'name', first + (files.length > 1 ? ' and ' + (files.length - 1) + ' more' : '')));
    if (column >= 0) {
      const about = data.cells[item.row.cells[column]], line = make('p');
      line.append(make('span', 'badge ' + about.look, about.letter), ' ' + about.text + ': ' + data.classes[column].text);
      content.append(line);
      const facts = new Map();
      for (const file of files) {
        const fact = data.facts[data.of[file * width + column]];
        facts.set(fact, (facts.get(fact) || 0) + 1);
      }
      const list = make('ul');
      for (const [fact, times] of [...facts].slice(0, 20)) if (fact) list.append(make('li', '', fact + (files.length > 1 ? ' (' + times + (times === 1 ? ' file)' : ' files)') : '')));
      if (list.children.length) content.append(list);
    }
    const found = findingsOf(files, column);
    for (const finding of found.slice(0, 100)) content.append(headOf(make('div', 'finding'), finding), listOf(finding, column));
    if (!found.length) content.append(make('p', 'soft', 'Nothing is wrong here.'));
    if (files.length > 1) {
      const box = make('details'), list = make('ul');
      box.append(make('summary', '', 'all ' + files.length + ' files'));
      box.addEventListener('toggle', () => {
        if (box.open && !list.children.length) for (const file of files) list.append(make('li', 'name', data.files[file]));
      });
      box.append(list);
      content.append(box);
    }
    panel.showModal();
    panel.scrollTop = 0;
  }
  const placeOf = (node) => node && node.closest && node.closest('[data-row]');
  function openAt(place) { open(Number(place.dataset.row), Number(place.dataset.column) - 1); }
  function go(from, row, column) {
    while (row >= made && made < shown.length) more();
    const line = body.children[Math.max(0, Math.min(row, made - 1))];
    const next = line && line.children[Math.max(0, Math.min(column, width))];
    if (!next) return;
    for (const old of body.querySelectorAll('[tabindex=\'0\']')) old.tabIndex = -1;
    next.tabIndex = 0;
    next.focus();
    next.scrollIntoView({block: 'nearest', inline: 'nearest'});
  }
  body.addEventListener('click', (event) => {
    const place = placeOf(event.target);
    if (place) { go(place, Number(place.dataset.row), Number(place.dataset.column)); openAt(place); }
  });
  body.addEventListener('keydown', (event) => {
    const place = placeOf(event.target);
    if (!place || event.ctrlKey || event.altKey || event.metaKey) return;
    const row = Number(place.dataset.row), column = Number(place.dataset.column);
    const moves = {ArrowUp: [row - 1, column], ArrowDown: [row + 1, column], ArrowLeft: [row, column - 1],
      ArrowRight: [row, column + 1], Home: [row, 0], End: [row, width], PageUp: [row - 20, column], PageDown: [row + 20, column]};
    if (event.key === 'Enter' || event.key === ' ') openAt(place);
    else if (moves[event.key]) go(place, moves[event.key][0], moves[event.key][1]);
    else return;
    event.preventDefault();
  });
  find('close').addEventListener('click', () => find('panel').close());
  find('panel').addEventListener('click', (event) => { if (event.target === find('panel')) find('panel').close(); });

  const head = find('head');
  head.append(make('th', '', 'file'));
  for (const each of data.classes) {
    const title = make('th', '', each.title);
    title.scope = 'col';
    title.title = each.text;
    head.append(title);
  }
  for (const about of data.cells) {
    const key = make('div');
    key.append(make('span', about.look, about.letter), ' ' + about.text);
    find('key').append(key);
  }
  for (const each of data.classes) find('devices').append(make('li', '', each.title + ': ' + each.text));
  for (const each of data.left_out) find('left').append(make('li', '', each.text));
  find('left_out').hidden = !data.left_out.length;
  find('matrix').hidden = !data.rows.length;
  let told = 0;
  function tell() {
    const end = Math.min(told + step, data.findings.length);
    for (; told < end; ++told) {
      const finding = data.findings[told], box = make('details');
      box.append(headOf(make('summary'), finding), listOf(finding, -1));
      find('findings').append(box);
    }
    find('more').hidden = told === data.findings.length;
  }
  find('more').addEventListener('click', tell);
  find('found').hidden = !data.findings.length;
  tell();

  // Bars, as wide as what they show of the largest one.
  function weigh(node, each, most) {
    node.classList.add('weighed');
    const bar = make('span', 'bar');
    bar.setAttribute('aria-hidden', 'true');
    for (const part of ['inflated', 'stored']) {
      const line = make('i', part);
      line.style.width = 100 * each[part] / Math.max(1, most) + '%';
      bar.append(line);
    }
    node.append(make('span', 'name', each.title), bar, make('span', '', each.text));
    return node;
  }
  const mostOf = (list) => list.reduce((most, each) => Math.max(most, each.stored, each.inflated), 0);
  const {archs, kernels} = data.sizes;
  for (const each of archs) find('archs').append(weigh(make('li'), {...each, text: each.text + ', ' + each.images}, mostOf(archs)));
  for (const each of kernels) {
    const box = make('details'), list = make('dl');
    for (const [label, text] of [['kernel', each.title], ['file', data.files[each.file]], ['size', each.text + ', in ' + each.images]])
      list.append(make('dt', '', label), make('dd', '', text));
    box.append(weigh(make('summary'), each, mostOf(kernels)), list);
    find('kernels').append(box);
  }
  find('total').textContent = data.sizes.images + ': ' + data.sizes.text;
  find('weight').hidden = !archs.length;
  find('kernels_part').hidden = !kernels.length;
  let timer = 0;
  find('search').addEventListener('input', () => { clearTimeout(timer); timer = setTimeout(look, 80); });
  find('failing').addEventListener('change', look);
  look();
  document.body.dataset.ready = 'yes';
}());
)js";

}  // namespace archguard
