import type { AnswerHead } from '../answer/answer-head.js';

type Redirection = { readonly path: string } | { readonly refusal: string };

/**
 * The target of a redirect; undefined for any other answer. Our headers, with their credentials, go only to the
 * registered origin. A POST is repeated unchanged or not at all: as the GET that browsers make of it after 301,
 * 302 and 303 it would be a different request.
 */
export function redirectionIn(
  head: AnswerHead,
  method: string,
  from: URL,
): Redirection | undefined {
  const repeats = head.status === 307 || head.status === 308;
  if (!repeats && ![301, 302, 303].includes(head.status)) return undefined;
  const location = head.get('location');
  if (location === undefined || !URL.canParse(location, from.href)) return undefined;
  const target = new URL(location, from.href);
  if (target.origin !== from.origin) {
    return {
      refusal: `it redirects to ${originOf(target)}, another origin, where its credentials must not go: register the server with a URL there`,
    };
  }
  const path = target.pathname + target.search;
  if (repeats || method === 'GET') return { path };
  return {
    refusal: `it redirects a POST in a way (${head.status}) that turns it into a GET: register the server with the URL it redirects to`,
  };
}

/** Only the origin: a path or a query may contain secrets. */
function originOf(target: URL): string {
  const { protocol, host } = target;
  return `${protocol}//${host}`.slice(0, 300);
}
