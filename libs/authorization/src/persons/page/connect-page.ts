/** Nothing but the page's own script and style; it shows no text as HTML. */
export const PAGE_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** The same for everyone: what it shows is asked for by its script, as the person who is logged in. */
export const CONNECT_PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>Connect · Switchboard</title>
<link rel="stylesheet" href="../page.css">
<script src="../page.js" defer></script>
</head>
<body>
<main>
<p class="product">Switchboard</p>
<h1 id="title" tabindex="-1">Connect</h1>
<p id="text" role="status">Loading…</p>
<form id="form" hidden></form>
<p id="problem" role="alert" hidden></p>
</main>
<noscript><p>This page needs JavaScript.</p></noscript>
</body>
</html>
`;

export const CONNECT_STYLE = `:root {
  color-scheme: light dark;
  --page: light-dark(#f7f7f8, #131416);
  --panel: light-dark(#fff, #1b1d20);
  --line: light-dark(#d9dbe0, #34373d);
  --text: light-dark(#1a1c20, #e8e9eb);
  --muted: light-dark(#5a5f69, #a3a8b2);
  --accent: light-dark(#2557d6, #8fb0ff);
  --on-accent: light-dark(#fff, #10131a);
  --danger: light-dark(#b3261e, #ff9b93);
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--text); font: 0.9375rem/1.5 system-ui, sans-serif; }
main { max-width: 30rem; margin: 12vh auto; padding: 1.5rem; background: var(--panel); border: 1px solid var(--line); border-radius: 8px; }
.product { margin: 0; color: var(--muted); }
h1 { margin: 0 0 0.75rem; font-size: 1.375rem; line-height: 1.3; overflow-wrap: anywhere; }
label { display: block; margin: 0.75rem 0 0; font-weight: 600; overflow-wrap: anywhere; }
input { width: 100%; margin-top: 0.25rem; padding: 0.5rem; font: inherit; color: inherit; background: var(--page); border: 1px solid var(--line); border-radius: 6px; }
button { margin-top: 1rem; padding: 0.5rem 1rem; font: inherit; font-weight: 600; color: var(--on-accent); background: var(--accent); border: 0; border-radius: 6px; cursor: pointer; }
button:disabled { opacity: 0.6; cursor: default; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
#problem { color: var(--danger); }
`;

/** Texts are set as text only; secrets go into the bodies of requests, never into addresses. */
export const CONNECT_SCRIPT = `'use strict';
const at = (id) => document.getElementById(id);
const here = location.pathname;
// The public address of the service may have a path.
const base = here.replace(/\\/connect\\/[^/]+\\/[^/]+$/, '');
async function ask(method, path, body) {
  const answer = await fetch(path, {
    method,
    cache: 'no-store',
    headers: { 'content-type': 'application/json', 'x-requested-with': 'switchboard-console' },
    ...(body && { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  let json = {};
  try { json = text ? JSON.parse(text) : {}; } catch { json = {}; }
  return { status: answer.status, json };
}
function say(title, text) {
  at('title').textContent = title;
  at('text').textContent = text;
  at('form').replaceChildren();
  at('form').hidden = true;
  fail('');
  at('title').focus();
}
function fail(text) {
  at('problem').textContent = text;
  at('problem').hidden = text === '';
}
function detailOf({ json, status }) {
  const { detail } = json;
  if (Array.isArray(detail)) return detail.map(({ loc, msg }) => loc.at(-1) + ': ' + msg).join('. ');
  return typeof detail === 'string' ? detail : 'The service answered with HTTP ' + status + '. Try again.';
}
function field(name, type) {
  const label = document.createElement('label');
  label.textContent = name;
  const input = document.createElement('input');
  Object.assign(input, { name, type, required: true, autocomplete: 'off', spellcheck: false });
  label.append(input);
  return label;
}
function button(text) {
  const made = document.createElement('button');
  made.textContent = text;
  return made;
}
function show(parts, submit) {
  const form = at('form');
  form.replaceChildren(...parts);
  form.hidden = false;
  form.onsubmit = async (event) => {
    event.preventDefault();
    fail('');
    const values = Object.fromEntries([...form.querySelectorAll('input')].map(({ name, value }) => [name, value]));
    const pressed = form.querySelector('button');
    pressed.disabled = true;
    try { await submit(values); } catch { fail('The service cannot be reached. Try again.'); }
    pressed.disabled = false;
  };
}
function logIn() {
  say('Log in', 'Log in as the person who called the tool: with a token of this service, or open the address that “switchboard login” prints in this browser and load this page again.');
  show([field('token', 'password'), button('Log in')], async ({ token }) => {
    const answer = await ask('POST', base + '/console/session', { token });
    if (answer.status === 200) await load();
    else fail(detailOf(answer));
  });
  void offerProvider();
}
async function offerProvider() {
  const { json } = await ask('GET', base + '/console/session/ways');
  // The person may have logged in meanwhile.
  if (typeof json.provider !== 'string' || at('title').textContent !== 'Log in') return;
  const link = document.createElement('a');
  link.href = base + '/login/start?to=' + encodeURIComponent(here.slice(base.length));
  link.textContent = 'Log in with ' + json.provider;
  at('form').prepend(link);
}
function logOut(text) {
  say('This link is not for you, or is over', text);
  show([button('Log in as another person')], async () => {
    await ask('DELETE', base + '/console/session');
    logIn();
  });
}
function connect({ server, person, fields }) {
  const title = 'Connect ' + server;
  if (fields.length > 0) {
    say(title, 'Calls of ' + person + ' will be made with what you give here. It is stored encrypted, used for no other person, and never shown again.');
    show([...fields.map((name) => field(name, 'password')), button('Connect')], async (values) => {
      const answer = await ask('POST', here + '/values', { values });
      if (answer.status !== 204) fail(detailOf(answer));
      else say(server + ' is connected', 'Go back to your client and call the tool again. You can close this page.');
    });
    return;
  }
  say(title, 'You will log in at the provider of ' + server + '. Calls of ' + person + ' are then made with your account there.');
  show([button('Log in at the provider')], async () => {
    const answer = await ask('POST', here + '/consent', {});
    if (answer.status === 200) location.assign(answer.json.authorization_url);
    else fail(detailOf(answer));
  });
}
async function load() {
  const answer = await ask('GET', here + '/state');
  if (answer.status === 200) connect(answer.json);
  else if (answer.status === 401) logIn();
  else if (answer.status === 404) logOut(detailOf(answer));
  else say('Connect', detailOf(answer));
}
load().catch(() => say('Connect', 'The service cannot be reached. Load the page again.'));
`;
