// A browser without scripts, as far as the pages where a person logs in and allows a client need one.
const MAX_STEPS = 20;

export class ConsentBrowser {
  #cookies = new Map();
  #origin;

  constructor(origin) {
    this.#origin = origin;
  }

  /** Opens what a client wants opened, logs in with a token, allows it, and returns to the client. */
  async allow(address, credential) {
    const login = await this.#open(address);
    if (!login.text.includes('name="credential"')) throw new Error(problemIn(login.text));
    const question = await this.#submit(login.url, 'login', { credential });
    const shown = /name="shown" value="(\w+)"/.exec(question.text)?.[1];
    if (shown === undefined) throw new Error(problemIn(question.text));
    const end = await this.#submit(question.url, 'decide', { decision: 'allow', shown });
    return { shown: textOf(question.text), end: textOf(end.text) };
  }

  #submit(url, action, fields) {
    const to = url.replace(/\/(ask|login|decide)$/, `/${action}`);
    return this.#open(to, { method: 'POST', body: new URLSearchParams(fields) });
  }

  /** Follows redirects, and pages that lead on by themselves. */
  async #open(address, sending = {}) {
    let url = address;
    let next = sending;
    for (let step = 0; step < MAX_STEPS; step += 1) {
      const isOwn = new URL(url).origin === this.#origin;
      const own = { cookie: this.#cookieHeader(), origin: this.#origin };
      const answer = await fetch(url, {
        ...next,
        redirect: 'manual',
        headers: isOwn ? own : {},
      });
      if (isOwn) this.#take(answer.headers.getSetCookie());
      const text = await answer.text();
      const refresh = /http-equiv="refresh" content="0;url=([^"]+)"/.exec(text)?.[1];
      const to = answer.headers.get('location') ?? refresh?.replaceAll('&amp;', '&');
      if (!to) return { url, text };
      url = new URL(to, url).href;
      next = {};
    }
    throw new Error(`${address} leads nowhere`);
  }

  #cookieHeader() {
    return [...this.#cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  }

  #take(lines) {
    for (const line of lines) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (name !== undefined) this.#cookies.set(name, value);
    }
  }
}

function problemIn(text) {
  return `the page says: ${textOf(text)}`;
}

function textOf(html) {
  const [, body = html] = html.split('<body>');
  return body
    .replace(/<[^>]*>/g, ' ')
    .replace(/\s+/g, ' ')
    .trim();
}
