import { setImmediate } from 'node:timers/promises';
import { runInNewContext } from 'node:vm';
import { CONNECT_SCRIPT } from './connect-page.js';

/** What the script uses of an element. */
class FakeElement {
  textContent = '';
  hidden = false;
  href = '';
  name = '';
  children: FakeElement[] = [];
  focus(): void {}
  append(...more: FakeElement[]): void {
    this.children.push(...more);
  }
  prepend(...more: FakeElement[]): void {
    this.children.unshift(...more);
  }
  replaceChildren(...others: FakeElement[]): void {
    this.children = others;
  }
}

/** The form that someone without a login gets. */
async function formWith(provider: string | null): Promise<readonly FakeElement[]> {
  const elements = new Map<string, FakeElement>();
  const at = (id: string): FakeElement => {
    const element = elements.get(id) ?? new FakeElement();
    elements.set(id, element);
    return element;
  };
  const answers: Record<string, [status: number, body: object]> = {
    '/connect/github/abc/state': [401, { detail: 'no' }],
    '/console/session/ways': [200, { password: false, provider }],
  };
  const shown = new Promise<void>((resolve) => {
    at('form').replaceChildren = (...parts) => {
      at('form').children = parts;
      if (parts.length > 0) resolve();
    };
  });
  runInNewContext(CONNECT_SCRIPT, {
    document: { getElementById: at, createElement: () => new FakeElement() },
    location: { pathname: '/connect/github/abc' },
    fetch: async (path: string) => {
      const [status, body] = answers[path] ?? [404, {}];
      return { status, text: async () => JSON.stringify(body) };
    },
  });
  await shown;
  // The answers of `fetch` above need microtasks only.
  await setImmediate();
  return at('form').children;
}

describe('the page where a person connects a server', () => {
  it('leads to the identity provider and back, where there is one', async () => {
    const [link] = await formWith('id.example.com');
    expect(link).toMatchObject({
      textContent: 'Log in with id.example.com',
      href: '/login/start?to=%2Fconnect%2Fgithub%2Fabc',
    });
    const links = (await formWith(null)).filter(({ href }) => href !== '');
    expect(links).toEqual([]);
  });
});
