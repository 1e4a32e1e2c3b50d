// Search over all pages, copy buttons, and the mark of the section that is being read. The pages work without it.
'use strict';
const make = (tag, attributes, ...children) => {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
};

// Search: every word has to be in a section; one in its title counts most.
const field = make('input', {
  type: 'search', placeholder: 'Search  /', 'aria-label': 'Search the documentation', role: 'combobox', autocomplete: 'off',
  'aria-expanded': 'false', 'aria-controls': 'hits', 'aria-autocomplete': 'list',
});
const list = make('ul', { id: 'hits', role: 'listbox', 'aria-label': 'Results' });
document.getElementById('find').append(field, list);
let index;
let selected = -1;

const load = async () => {
  const entries = await (await fetch('/docs/search.json')).json();
  return entries.map((entry) => ({ ...entry, head: `${entry.title} ${entry.page}`.toLowerCase(), body: entry.text.toLowerCase() }));
};
const score = (entry, words) => {
  let sum = 0;
  for (const word of words) {
    if (entry.title.toLowerCase() === word) sum += 40;
    else if (entry.head.startsWith(word)) sum += 20;
    else if (entry.head.includes(word)) sum += 10;
    else if (entry.body.includes(word)) sum += 1;
    else return 0;
  }
  return sum;
};
const snippet = (entry, words) => {
  const at = Math.max(0, entry.body.indexOf(words.find((word) => entry.body.includes(word)) ?? ''));
  const start = at < 40 ? 0 : entry.text.indexOf(' ', at - 40);
  return `${start > 0 ? '…' : ''}${entry.text.slice(start, start + 140)}`;
};
const marked = (text, words) => {
  const escaped = words.map((word) => word.replace(/[^\p{L}\p{N}]/gu, '\\$&'));
  return text.split(new RegExp(`(${escaped.join('|')})`, 'iu')).map((part, at) => (at % 2 ? make('mark', {}, part) : part));
};
const select = (at) => {
  selected = at;
  [...list.children].forEach((hit, position) => hit.setAttribute('aria-selected', String(position === at)));
  list.children[at]?.scrollIntoView({ block: 'nearest' });
  if (at >= 0) field.setAttribute('aria-activedescendant', `hit-${at}`);
  else field.removeAttribute('aria-activedescendant');
};
const close = () => { list.replaceChildren(); field.setAttribute('aria-expanded', 'false'); select(-1); };
const search = async () => {
  index ??= load();
  const entries = await index;
  const words = field.value.toLowerCase().split(/\s+/u).filter(Boolean);
  if (!words.length) return close();
  const hits = entries.map((entry) => [score(entry, words), entry]).filter(([points]) => points);
  hits.sort(([one], [other]) => other - one);
  list.replaceChildren(...hits.slice(0, 12).map(([, entry], at) => {
    const title = entry.title === entry.page ? entry.title : `${entry.page}: ${entry.title}`;
    const hit = make('li', { id: `hit-${at}`, role: 'option', 'data-url': entry.url }, ...marked(title, words));
    hit.append(make('small', {}, ...marked(snippet(entry, words), words)));
    return hit;
  }));
  if (!hits.length) list.append(make('li', { role: 'option', 'aria-disabled': 'true' }, 'Nothing found'));
  field.setAttribute('aria-expanded', 'true');
  select(hits.length ? 0 : -1);
};
const open = (hit) => { if (hit?.dataset.url) { close(); field.value = ''; location.href = hit.dataset.url; } };
field.addEventListener('focus', () => { index ??= load(); });
field.addEventListener('input', search);
field.addEventListener('blur', () => setTimeout(close, 150));
field.addEventListener('keydown', (event) => {
  const count = list.children.length;
  if (event.key === 'ArrowDown' && count) select((selected + 1) % count);
  else if (event.key === 'ArrowUp' && count) select((selected + count - 1) % count);
  else if (event.key === 'Enter') open(list.children[selected]);
  else if (event.key === 'Escape') close();
  else return;
  event.preventDefault();
});
list.addEventListener('mousedown', (event) => { event.preventDefault(); open(event.target.closest('[data-url]')); });
document.addEventListener('keydown', (event) => {
  if (event.key !== '/' || event.target.matches('input, textarea')) return;
  event.preventDefault();
  field.focus();
});

// A browser has a clipboard only on https and on this machine.
for (const code of navigator.clipboard ? document.querySelectorAll('pre') : []) {
  const button = make('button', { type: 'button', class: 'copy' }, 'Copy');
  const box = make('div', { class: 'code' });
  button.addEventListener('click', async () => {
    await navigator.clipboard.writeText(code.textContent);
    button.textContent = 'Copied';
    setTimeout(() => { button.textContent = 'Copy'; }, 1500);
  });
  // In tabs, the first one is shown with its sample.
  if (code.parentElement.matches('.tabs')) { code.append(button); code.classList.add('code'); }
  else { code.replaceWith(box); box.append(code, button); }
}

// A language that is chosen is chosen for all samples, on later pages, too.
const choose = (language) => {
  for (const tab of document.querySelectorAll('.tabs input')) tab.checked = tab.value === language;
};
const remembered = localStorage.getItem('language');
if (remembered) choose(remembered);
document.addEventListener('change', ({ target }) => {
  if (!target.matches('.tabs input')) return;
  const before = target.getBoundingClientRect().top;
  choose(target.value);
  scrollBy(0, target.getBoundingClientRect().top - before);
  localStorage.setItem('language', target.value);
});

// The menu marks the last section whose heading is above the middle of the window.
const links = [...document.querySelectorAll('nav a[href^="#"]')];
const places = links.map((link) => document.getElementById(link.hash.slice(1)));
const mark = () => {
  const at = places.findLastIndex((place) => place && place.getBoundingClientRect().top < innerHeight / 2);
  links.forEach((link, position) => (position === at ? link.setAttribute('aria-current', 'true') : link.removeAttribute('aria-current')));
  links[at]?.scrollIntoView({ block: 'nearest' });
};
if (links.length && matchMedia('(min-width: 50rem)').matches) {
  let waiting = false;
  addEventListener('scroll', () => {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => { waiting = false; mark(); });
  }, { passive: true });
  mark();
}
