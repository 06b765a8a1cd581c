import { queryOptions, useQuery } from '@tanstack/react-query';
import { OWN_REQUEST } from '../api/service.js';
import { Refused } from '../api/refused.js';

export type Scope = 'read' | 'call' | 'operate' | 'admin';

/** Who is logged in. Scopes include those that a higher one implies. */
export interface Session {
  readonly name: string;
  readonly scopes: readonly Scope[];
  readonly view: string | null;
  readonly expires_at: string;
}

const ADDRESS = '/console/session';

async function exchange(init?: RequestInit, path = ''): Promise<Response> {
  const headers = { ...OWN_REQUEST, 'Content-Type': 'application/json' };
  const response = await fetch(ADDRESS + path, { ...init, headers }).catch(() => undefined);
  if (!response) throw new Refused(0, undefined);
  if (response.ok) return response;
  throw new Refused(response.status, await response.json().catch(() => undefined));
}

async function readSession(): Promise<Session | null> {
  const response = await exchange();
  return response.status === 204 ? null : ((await response.json()) as Session);
}

/** `null` without a login. */
export const sessionQuery = queryOptions({
  queryKey: ['session'],
  queryFn: readSession,
  staleTime: 60_000,
});

/** What people may log in with beside a token and a link. */
export interface LoginWays {
  readonly password: boolean;
  /** The host of the identity provider. */
  readonly provider: string | null;
}

export const loginWaysQuery = queryOptions({
  queryKey: ['login ways'],
  queryFn: async () => (await (await exchange(undefined, '/ways')).json()) as LoginWays,
  staleTime: 60_000,
});

/** Where the identity provider's page opens; it leads back to `next`, a page of this console. */
export function providerLogin(next: string): string {
  return `/login/start?to=${encodeURIComponent(`/console${next}`)}`;
}

type Credential = { token: string } | { code: string } | { name: string; password: string };

export async function logIn(credential: Credential): Promise<void> {
  await exchange({ method: 'POST', body: JSON.stringify(credential) });
}

export async function logOut(): Promise<void> {
  await exchange({ method: 'DELETE' });
}

/** Whether the user may do what needs this scope; pages leave out what needs more, and say why. */
export function useMay(scope: Scope): boolean {
  const { data } = useQuery(sessionQuery);
  return data?.scopes.includes(scope) ?? false;
}
