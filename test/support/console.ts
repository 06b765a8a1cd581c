import { type Answer, type Sending, send } from './http.js';

/** What the pages of the console send with every request. */
export const OWN_PAGE = { 'x-requested-with': 'switchboard-console' };

/** A browser at the console of a service: it keeps its cookie, and sends what a page of this origin sends. */
export class Browser {
  cookie: string | undefined;

  constructor(readonly url: string) {}

  async send(path: string, sending: Sending = {}): Promise<Answer> {
    const { headers = {}, ...rest } = sending;
    const answer = await send(this.url, path, {
      ...rest,
      headers: {
        'sec-fetch-site': 'same-origin',
        ...OWN_PAGE,
        ...(this.cookie !== undefined && { cookie: this.cookie }),
        ...headers,
      },
    });
    const given = answer.headers['set-cookie']?.split(';')[0];
    if (given !== undefined) this.cookie = given.endsWith('=') ? undefined : given;
    return answer;
  }

  logIn(credential: object): Promise<Answer> {
    const body = JSON.stringify(credential);
    return this.send('/console/session', { method: 'POST', body });
  }

  session(): Promise<Answer> {
    return this.send('/console/session');
  }

  logOut(): Promise<Answer> {
    return this.send('/console/session', { method: 'DELETE' });
  }

  /** The same browser with another service, such as a replica behind the same load balancer. */
  at(url: string): Browser {
    const other = new Browser(url);
    other.cookie = this.cookie;
    return other;
  }
}
