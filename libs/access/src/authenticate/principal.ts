import { includesScope, isCleanText, type TokenScope } from '@app/platform';
import type { FastifyRequest } from 'fastify';
import { isIP } from 'node:net';

/**
 * How a caller authenticated: a configured token, or a JWT with a subject (`jwt`) or only a client id
 * (`jwt-client`).
 */
export type PrincipalKind = 'token' | 'jwt' | 'jwt-client';

/** The column size in the audit log. */
const MAX_NAME_CHARS = 255;

/**
 * The unique name of a caller, for the audit log, sessions and limits. Token names have no colon and the
 * other kinds have a prefix with one, so no JWT can pose as a token, as `system` or as `anonymous`, and no
 * client as a subject. Undefined if the name is too long or has characters that could disguise it.
 */
export function principalName(kind: PrincipalKind, given: string): string | undefined {
  const name = kind === 'token' ? given : `${kind}:${given}`;
  const isReadable = isCleanText(given) && /^[^\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]+$/u.test(given);
  return isReadable && name.length <= MAX_NAME_CHARS ? name : undefined;
}

/** The authenticated sender of a request. */
export interface Principal {
  /** Made by `principalName`. */
  readonly name: string;
  readonly scopes: readonly TokenScope[];
  /** What grants are given to: `token:ci`, or `user:…`, `client:…` and `group:…` of a JWT. */
  readonly subjects: readonly string[];
  /** Made by `subjectIn`: the person or program, whichever token it uses; see `Person`. */
  readonly subject?: string | undefined;
  /** The only view of a token that was issued for one, at every address. */
  readonly pinned?: PinnedView | undefined;
  /** Which OAuth client acts for the person: a hash of its id. */
  readonly client?: string | undefined;
  /** Whether the person still lets that client act. */
  readonly isGranted?: () => boolean;
  /** Whether the token of that client has expired: its streams end, its sessions wait for another token. */
  readonly isExpired?: () => boolean;
}

/** Ids and levels of views are those of libs/policy. */
export interface PinnedView {
  readonly viewId: string;
  readonly level: string;
}

/** The cause of a change, for the audit log; part of every command that writes. */
export interface Actor {
  readonly name: string;
  readonly ip: string | null;
  /** Of the principal. */
  readonly subject?: string | undefined;
}

/** Whom credentials towards servers belong to. */
export interface Person {
  /** Never given to another, unlike a name: a token of the same name may be issued later. */
  readonly subject: string;
  /** For people to read. */
  readonly name: string;
}

/** Of a subject: a configured token, an issued one by its id, or what an issuer of JWTs says. */
export type PersonKind = 'token' | 'issued' | 'jwt' | 'jwt-client';

/**
 * Unique over all issuers. Those of JWTs are URLs without spaces, so that the first space ends the issuer.
 */
export function subjectIn(kind: PersonKind, id: string, issuer = ''): string {
  return kind === 'jwt' || kind === 'jwt-client'
    ? `${kind}:${issuer.replaceAll(' ', '%20')} ${id}`
    : `${kind}:${id}`;
}

/** Whether it is a person or program of this issuer of JWTs. */
export function isOfIssuer({ subject = '' }: Pick<Principal, 'subject'>, issuer: string): boolean {
  const kinds = ['jwt', 'jwt-client'] as const;
  return kinds.some((kind) => subject.startsWith(subjectIn(kind, '', issuer)));
}

/** The name is unique among callers; a principal without a subject is its own. */
export function personOf({ name, subject }: Pick<Actor, 'name' | 'subject'>): Person {
  return { subject: subject ?? `name:${name}`, name };
}

/** For changes that no request caused. */
export const SYSTEM: Actor = { name: 'system', ip: null };

/** The name of a caller without a token. */
export const ANONYMOUS = 'anonymous';

/** The client's address; a forwarding header may contain anything, so the socket's address is the fallback. */
export function addressOf(request: FastifyRequest): string | null {
  if (request.passedBy) return request.passedBy.ip;
  return isIP(request.ip) === 0 ? (request.socket.remoteAddress ?? null) : request.ip;
}

export function hasScope({ scopes }: Principal, needed: TokenScope): boolean {
  return includesScope(scopes, needed);
}
