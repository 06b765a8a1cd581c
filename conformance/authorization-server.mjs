// The scenarios of the suite for authorization servers, which wait for a browser: this is the browser, of a person who
// logs in with a token and allows what the client asks for.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { createInterface } from 'node:readline';

/** What clients name as their resource: column of the table → path, undefined for no resource. */
const RESOURCES = { 'no resource': undefined, 'the service': '', '`/mcp`': '/mcp' };
const HOPS = 10;

export async function freePort() {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  await once(server, 'close');
  return port;
}

/** What the client names as its resource → output of the suite. */
export async function runAuthorizationServer({ issuer, token, suite, revision, folder }) {
  const outputs = new Map();
  for (const [resource, path] of Object.entries(RESOURCES)) {
    const port = await freePort();
    const clientId = await register(issuer, `http://127.0.0.1:${port}/callback`);
    const [command, ...args] = [
      ...[...suite, 'authorization', '--url', issuer, '--client-id', clientId],
      ...['--port', `${port}`, '--spec-version', revision, '-o', folder],
      ...(path === undefined ? [] : ['--resource', `${issuer}${path}`]),
    ];
    const child = spawn(command, args, { cwd: folder, stdio: ['ignore', 'pipe', 'inherit'] });
    const lines = [];
    for await (const line of createInterface({ input: child.stdout })) {
      lines.push(line);
      if (!line.startsWith(`${issuer}/authorize?`)) continue;
      // The suite waits for five minutes for a callback that does not come.
      await allow(line, issuer, token).catch((error) => {
        lines.push(`the browser: ${error.message}`);
        child.kill();
      });
    }
    outputs.set(resource, lines.join('\n'));
  }
  return outputs;
}

async function register(issuer, redirectUri) {
  const answer = await fetch(`${issuer}/register`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ client_name: 'conformance', redirect_uris: [redirectUri] }),
  });
  const { client_id: clientId } = await answer.json();
  if (!answer.ok || !clientId) throw new Error(`a client cannot register: ${answer.status}`);
  return clientId;
}

/** Follows redirects, pages that lead on by themselves, the login and the question, until a page of the client. */
async function allow(address, issuer, token) {
  const cookies = new Map();
  let [url, form] = [address, undefined];
  for (let hop = 0; hop < HOPS; hop++) {
    const answer = await fetch(url, {
      redirect: 'manual',
      headers: {
        cookie: [...cookies].map((pair) => pair.join('=')).join('; '),
        ...(form && { origin: issuer }),
      },
      ...(form && { method: 'POST', body: new URLSearchParams(form) }),
    });
    const page = await answer.text();
    if (!url.startsWith(issuer)) return;
    for (const set of answer.headers.getSetCookie()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(set);
      cookies.set(name, value);
    }
    ({ url, form } = nextOf({ answer, page, url, token }));
  }
  throw new Error(`no answer for the client after ${HOPS} pages`);
}

function nextOf({ answer, page, url, token }) {
  const to = (path) => new URL(path.replaceAll('&amp;', '&'), url).href;
  const location = answer.headers.get('location');
  if (location !== null) return { url: to(location) };
  const [, refresh] = /http-equiv="refresh" content="0;url=([^"]+)"/.exec(page) ?? [];
  if (refresh !== undefined) return { url: to(refresh) };
  const [, decide] = /action="([^"]+\/decide)"/.exec(page) ?? [];
  if (decide !== undefined) {
    const [, shown] = /name="shown" value="(\w+)"/.exec(page) ?? [];
    return { url: to(decide), form: { decision: 'allow', shown } };
  }
  const [, login] = /action="([^"]+\/login)"/.exec(page) ?? [];
  if (login !== undefined) return { url: to(login), form: { credential: token } };
  throw new Error(`a page leads nowhere: ${answer.status} ${page.slice(0, 500)}`);
}
