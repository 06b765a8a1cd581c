import { isSameHost } from '../authorize/request-origin.js';

/** Sent by the console with every request; pages of other origins cannot set it without a preflight. */
export const OWN_PAGE = 'switchboard-console';

export interface PageRequest {
  readonly method: string;
  /** As the browser sent it. */
  readonly host: string;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
}

/**
 * Whether a request may come from a page of this service. Browsers send cookies by themselves, so without this check
 * any page, also one on another port of this host (same site), could act for a person who is logged in.
 */
export function isFromOwnPage({ method, host, headers }: PageRequest): boolean {
  const isRead = method === 'GET' || method === 'HEAD';
  const site = headers['sec-fetch-site'];
  // `none`: an address that the person typed, or a bookmark. Browsers send nothing over plain HTTP to other machines.
  if (site !== undefined && site !== 'same-origin' && !(isRead && site === 'none')) return false;
  const { origin } = headers;
  if (origin !== undefined && !(typeof origin === 'string' && isSameHost(origin, host))) {
    return false;
  }
  return isRead || headers['x-requested-with'] === OWN_PAGE;
}
