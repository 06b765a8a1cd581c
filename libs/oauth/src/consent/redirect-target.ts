import { isLoopbackHost } from '@app/platform';

import { clientText } from './client-text.js';

const MAX_CHARS = 300;

export interface RedirectTarget {
  /** For people: a host, or the scheme of an app. */
  readonly name: string;
  /**
   * Only what its owner controls proves who gets the code: loopback and schemes of apps can be taken by any program
   * (RFC 8252 §8.6), so that a person is asked each time.
   */
  readonly isProof: boolean;
}

export function redirectTarget(uri: string): RedirectTarget {
  const { protocol, hostname, host } = new URL(uri);
  if (protocol !== 'https:' && protocol !== 'http:') {
    return { name: clientText(protocol, MAX_CHARS), isProof: false };
  }
  const isLoopback = isLoopbackHost(hostname);
  // Its port is a new one each time.
  return {
    name: isLoopback ? hostname : host,
    isProof: protocol === 'https:' && !isLoopback,
  };
}
