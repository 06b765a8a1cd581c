import { cutText, type TokenScope } from '@app/platform';
import type { FastifyReply } from 'fastify';

/** Of a client, on the page. */
const MAX_NAME_CHARS = 60;
const MAX_PATH_CHARS = 200;

const means: Readonly<Record<TokenScope, string>> = {
  read: 'see servers and tools, and search them',
  call: 'call tools, which may change things at their servers',
  operate: 'connect and disconnect servers, approve definitions',
  admin: 'change everything: servers, credentials, tokens, views',
};

export function escapeHtml(text: string): string {
  return text.replace(
    /[&<>"']/g,
    (one) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' })[one] ?? '&#39;',
  );
}

/** Without scripts. The referrer policy lets browsers say with a form which page it comes from. */
function page(title: string, body: string, head = ''): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="referrer" content="same-origin">
${head}<title>${title} · Switchboard</title>
<style>
:root{color-scheme:light dark;--line:#8885;--soft:#8881}
body{font:15px/1.5 system-ui,sans-serif;max-width:30rem;margin:12vh auto;padding:0 1rem}
h1{font-size:1.25rem}code,b,bdi{overflow-wrap:anywhere}
dl{border:1px solid var(--line);border-radius:8px;padding:.75rem 1rem;background:var(--soft)}
dt{font-size:.8rem;opacity:.7}dd{margin:0 0 .5rem}
input{font:inherit;width:100%;box-sizing:border-box;padding:.5rem;border:1px solid var(--line);border-radius:6px}
button{font:inherit;padding:.5rem 1rem;border:1px solid var(--line);border-radius:6px;cursor:pointer;margin:.75rem .5rem 0 0}
button.main,a.main{background:#2563eb;color:#fff;border-color:#2563eb}
a.main{display:inline-block;padding:.5rem 1rem;border-radius:6px;text-decoration:none}
.warning{border-left:3px solid #d97706;padding-left:.75rem}
</style>
</head>
<body>
${body}
</body>
</html>
`;
}

/**
 * Loads the address again as a navigation of this page: browsers do not send the cookie of a login with one that came
 * from another site.
 */
export function hopPage(to: string): string {
  const href = escapeHtml(to);
  return page(
    'One moment',
    `<p><a href="${href}">Continue</a></p>`,
    `<meta http-equiv="refresh" content="0;url=${href}">\n`,
  );
}

/** Another site led here: the person decides whether to log in, and sees where. */
export function startPage(href: string, provider: string): string {
  return page(
    'Log in',
    `<h1>Log in to Switchboard</h1>
<p>Another site sent you here. <a class="main" href="${escapeHtml(href)}">Log in with ${escapeHtml(provider)}</a></p>`,
  );
}

/** After the decision: a redirect of the form would be refused by the policy for forms in some browsers. */
export function donePage(to: string, host: string): string {
  const href = escapeHtml(to);
  return page(
    'Back to the client',
    `<h1>Back to ${escapeHtml(host)}</h1>
<p>You can close this page if nothing happens, or <a href="${href}">continue</a>.</p>`,
    `<meta http-equiv="refresh" content="0;url=${href}">\n`,
  );
}

export function problemPage(title: string, text: string): string {
  return page(escapeHtml(title), `<h1>${escapeHtml(title)}</h1>\n<p>${escapeHtml(text)}</p>`);
}

/** A request that no person was asked about: only the person decides whether to go to its address. */
export function refusedPage(problem: string, to: string, host: string): string {
  return page(
    'This client cannot be connected',
    `<h1>This client cannot be connected</h1>
<p>${escapeHtml(problem)}</p>
<p>Only if you came from it: <a href="${escapeHtml(to)}" rel="noreferrer">tell ${escapeHtml(host)}</a>.</p>`,
  );
}

export interface Asking {
  /** Where its forms lead. */
  readonly path: string;
  readonly client: {
    readonly id: string;
    readonly name: string | null;
    readonly domain: string | null;
  };
  readonly redirectHost: string;
  /** Whether only its owner gets what is sent there, which a program on this machine is not. */
  readonly isProof: boolean;
}

/** Who else a person may log in with. */
export interface LoginWay {
  readonly name: string;
  readonly href: string;
}

export function loginPage(
  asking: Asking,
  problem: string | undefined,
  provider: LoginWay | undefined,
): string {
  const { path } = asking;
  return page(
    'Log in',
    `<h1>Log in to decide about a client</h1>
<dl>
${clientHtml(asking)}
</dl>
${problem === undefined ? '' : `<p class="warning">${escapeHtml(problem)}</p>\n`}${provider === undefined ? '' : `<p><a class="main" href="${escapeHtml(provider.href)}">Log in with ${escapeHtml(provider.name)}</a></p>\n`}<form method="post" action="${escapeHtml(path)}/login">
<label for="name">Name</label>
<input id="name" name="name" autocomplete="username" required autofocus>
<label for="password">Password</label>
<input id="password" name="password" type="password" autocomplete="current-password" required>
<button class="main">Log in</button>
</form>
<form method="post" action="${escapeHtml(path)}/login">
<p>Without a password:</p>
<label for="credential">A login link or a token of this service</label>
<input id="credential" name="credential" type="password" autocomplete="off" required>
<button>Log in</button>
</form>
<p>On the machine of the service <code>switchboard login</code> prints a login link. Opening it in this browser logs in, too; <a href="${escapeHtml(path)}/ask">then continue here</a>.</p>`,
  );
}

export const PASSWORD_PATH = '/oauth/password';
export const PASSWORD_LENGTH = { min: 12, max: 200 };

/** Takes the code from the fragment, which browsers send to no server, into the form. */
export const PASSWORD_SCRIPT = `const code = location.hash.slice(1);
if (code) {
  document.getElementById('code').value = code;
  history.replaceState(null, '', location.pathname);
}
`;

export function passwordPage(problem: string | undefined): string {
  const { min, max } = PASSWORD_LENGTH;
  return page(
    'Choose a password',
    `<h1>Choose a password</h1>
${problem === undefined ? '' : `<p class="warning">${escapeHtml(problem)}</p>\n`}<form method="post" action="${PASSWORD_PATH}">
<label for="code">The code of the invitation, which is behind the # of its address</label>
<input id="code" name="code" autocomplete="off" required>
<label for="password">A password of at least ${min} characters</label>
<input id="password" name="password" type="password" autocomplete="new-password" minlength="${min}" maxlength="${max}" required>
<button class="main">Choose it</button>
</form>
<script src="${PASSWORD_PATH}.js"></script>`,
  );
}

export function chosenPage(name: string): string {
  return page(
    'Password chosen',
    `<h1>You are ${escapeHtml(name)}</h1>
<p>Log in with this name and your password when a client asks for access. <a href="/console/">Open the console</a>.</p>`,
  );
}

export interface Question extends Asking {
  readonly person: string;
  readonly scopes: readonly TokenScope[];
  /** Scopes that the client asks for and the person does not have. */
  readonly missing: readonly TokenScope[];
  readonly resource: string;
  /** Name of the only view of the person's token. */
  readonly view: string | undefined;
  /** Comes back with the decision, which counts only for what the page showed. */
  readonly shown: string;
}

export function questionPage(question: Question, hasChanged = false): string {
  const { path, person, scopes, missing, resource, view, redirectHost, shown } = question;
  const rights = scopes.map((scope) => `<dd><b>${scope}</b>: ${means[scope]}</dd>`).join('\n');
  const left =
    missing.length === 0
      ? ''
      : `<p>It also asks for ${missing.join(', ')}, which you may not do yourself; it will not get that.</p>\n`;
  return page(
    'Allow access',
    `<h1>May a client act for you?</h1>
${hasChanged ? '<p class="warning">Something of this has changed since the page was shown. Please decide again.</p>\n' : ''}${originHtml(question)}
<dl>
${clientHtml(question)}
<dt>You are</dt><dd><b>${escapeHtml(person)}</b></dd>
<dt>It may</dt>${rights}
<dt>At</dt><dd><code>${escapeHtml(resource === '' ? 'the whole service' : resource)}</code>${view === undefined ? '' : `, in the view <b>${escapeHtml(view)}</b>`}</dd>
<dt>The answer goes to</dt><dd><b>${escapeHtml(redirectHost)}</b></dd>
</dl>
${left}<form method="post" action="${escapeHtml(path)}/decide">
<input type="hidden" name="shown" value="${escapeHtml(shown)}">
<button class="main" name="decision" value="allow">Allow</button>
<button name="decision" value="deny">Deny</button>
</form>
<p>You can withdraw this at any time: <code>switchboard oauth grants</code>.</p>`,
  );
}

/** The name is what anyone may write, so it stands apart and cannot look like words of this page. */
function clientHtml({ client: { id, name, domain } }: Asking): string {
  const plain = cutText(
    (name ?? '').replace(/["'`\u00ab\u00bb\u2018-\u201f]/g, ''),
    MAX_NAME_CHARS,
  );
  const calls =
    plain === '' ? '' : `\n<dt>It calls itself</dt><dd><bdi>${escapeHtml(plain)}</bdi></dd>`;
  const { pathname, search } = domain === null ? { pathname: '', search: '' } : new URL(id);
  const who =
    domain === null
      ? 'unverified'
      : `<b>${escapeHtml(domain)}</b><code>${escapeHtml(cutText(pathname + search, MAX_PATH_CHARS))}</code>`;
  return `<dt>The client is</dt><dd>${who}</dd>${calls}`;
}

function originHtml({ client: { domain }, redirectHost, isProof }: Question): string {
  if (domain === null) {
    return warning(
      'This client registered by itself, as anyone can: its name proves nothing. Allow this only if you have just started it yourself.',
    );
  }
  if (!isProof) {
    return warning(
      'The answer goes to a program on this machine, which any program here could be. Allow this only if you have just started it yourself.',
    );
  }
  const isOwn = redirectHost === domain || redirectHost.endsWith(`.${domain}`);
  return isOwn
    ? ''
    : warning(
        'The answer goes to another host than the one that publishes the client. Allow this only if you know that both belong together.',
      );
}

function warning(text: string): string {
  return `<p class="warning">${text}</p>`;
}

export function html(reply: FastifyReply, status: number, text: string): FastifyReply {
  return reply
    .status(status)
    .header('cache-control', 'no-store')
    .type('text/html; charset=utf-8')
    .send(text);
}
