import { Injectable, Logger } from '@nestjs/common';
import { timingSafeEqual } from 'node:crypto';
import { TokensWithdrawn } from '@app/events';
import { Clock, CoalescedRuns, type ConfiguredToken, Env, Signals } from '@app/platform';
import { acceptedHashes, type IssuedToken } from '../tokens/issued-token.js';
import { IssuedTokenStore } from '../tokens/issued-token.store.js';
import { adminToken, tokenHash } from './admin-token.js';
import { PersonStore } from '../people/person.store.js';
import type { ProviderPerson } from '../people/person.js';
import { subjectsOf } from './claims.js';
import { type Principal, principalName, subjectIn } from './principal.js';
import { TokenStore } from './token.store.js';

/** The holder of a token. */
export interface Holder {
  readonly principal: Principal;
  /** Of one secret: another token of the same name, and another secret of the same token, is another account. */
  readonly account: string;
  /** In ms since the epoch. */
  readonly until: number;
  /** How people read the name, of someone who logs in at the identity provider. */
  readonly label?: string;
}

interface Known extends Holder {
  readonly digest: Buffer;
  /** Of a token that was issued. */
  readonly id?: string;
  isUsed: boolean;
}

/**
 * In memory for requests: the configured tokens (or the admin token of a first start), and those that were issued by
 * request, which are rows.
 */
@Injectable()
export class Tokens {
  private readonly logger = new Logger('access');
  private readonly known = new Map<string, Known>();
  private readonly accounts = new Map<string, Holder>();
  private readonly used = new Set<string>();
  private readonly reloads = new CoalescedRuns();
  private configured: readonly ConfiguredToken[] = [];
  private configuredAccounts: ReadonlyMap<string, string> = new Map();
  private issued: readonly IssuedToken[] = [];
  private people: readonly ProviderPerson[] = [];
  /** Counts what was dropped here, to notice rows that were read before. */
  private drops = 0;
  private newToken: string | undefined;

  constructor(
    private readonly env: Env,
    private readonly store: TokenStore,
    private readonly issuedStore: IssuedTokenStore,
    private readonly signals: Signals,
    private readonly clock: Clock,
    private readonly peopleStore: PersonStore,
  ) {}

  /** Called only by a process that serves requests: other commands must not change the rows. */
  async load(): Promise<void> {
    const tokens = await this.readConfigured();
    this.configuredAccounts = await this.store.replaceAll(tokens);
    this.configured = tokens;
    await this.reload();
    const names = new Set(tokens.map(({ name }) => name));
    for (const { name } of await this.issuedStore.valid()) {
      if (!names.has(name)) continue;
      const hint =
        'a configured token has the name of an issued one, which is refused; rename the one or revoke the other';
      this.logger.warn({ token: name, hint }, 'access.token_name_shared');
    }
  }

  /** By the SHA-256 of the token as a latin1 string, which costs half as much as a buffer. */
  find(hash: string): Principal | undefined {
    return this.accepted(hash)?.principal;
  }

  /** By the SHA-256 in hex, as rows have it; with the time in ms until which the token is accepted. */
  holderOf(tokenHash: string): Holder | undefined {
    return this.accepted(Buffer.from(tokenHash, 'hex').toString('latin1'));
  }

  /** What the holder of an account may do now; undefined once its token has expired or is gone. */
  byAccount(account: string): Principal | undefined {
    const holder = this.accounts.get(account);
    if (!holder) return undefined;
    if (holder.until !== Infinity && holder.until <= this.clock.now().getTime()) return undefined;
    return holder.principal;
  }

  private accepted(hash: string): Known | undefined {
    const candidate = this.known.get(keyOf(hash));
    if (!candidate || !timingSafeEqual(candidate.digest, Buffer.from(hash, 'latin1'))) {
      return undefined;
    }
    if (candidate.until !== Infinity && candidate.until <= this.clock.now().getTime())
      return undefined;
    candidate.isUsed = true;
    return candidate;
  }

  /**
   * Makes memory equal to the rows of issued tokens, whichever process wrote them. One at a time: rows that were read
   * before a token was revoked must not replace those that were read after. Also after a change of this process: of two
   * rotations at once, the one that committed last need not be the one that is answered last.
   */
  reload(): Promise<void> {
    return this.reloads.run('issued', () => this.readIssued());
  }

  private async readIssued(): Promise<void> {
    for (;;) {
      const { drops } = this;
      const [rows, people] = [await this.issuedStore.valid(), await this.peopleStore.alive()];
      if (drops === this.drops) return this.replaceIssued(rows, people);
    }
  }

  /** What a request with the token of this name is decided by; undefined if no token is accepted under it. */
  named(name: string): Principal | undefined {
    for (const { principal } of this.known.values()) if (principal.name === name) return principal;
    return undefined;
  }

  /** The accounts of the token of this name: two while its secret before the last rotation is accepted. */
  accountsNamed(name: string): readonly string[] {
    const named = [...this.accounts.values()].filter(({ principal }) => principal.name === name);
    return named.map(({ account }) => account);
  }

  /** Whether a token of that subject is accepted, as of the last read of the rows. */
  hasSubject(subject: string): boolean {
    for (const { principal } of this.known.values()) if (principal.subject === subject) return true;
    return false;
  }

  /** A token that this process has just deleted; it is refused also when the rows cannot be read. */
  drop(tokenId: string): Promise<void> {
    this.drops += 1;
    return this.replaceIssued(
      this.issued.filter(({ id }) => id !== tokenId),
      this.people,
    );
  }

  /** As `drop`, for someone whose account ended. */
  dropPerson(personId: string): Promise<void> {
    this.drops += 1;
    const others = this.people.filter(({ id }) => id !== personId);
    return this.replaceIssued(this.issued, others);
  }

  /** Ids of the issued tokens that were used since the last time. */
  takeUsed(): readonly string[] {
    this.collectUsed();
    const ids = [...this.used];
    this.used.clear();
    return ids;
  }

  /** The admin token if this start created it; undefined from the second call on. */
  takeNewToken(): string | undefined {
    const token = this.newToken;
    this.newToken = undefined;
    return token;
  }

  /** One name is one token, because grants, budgets and sessions go by it: the configured one, whose settings are newer. */
  private async replaceIssued(
    rows: readonly IssuedToken[],
    people: readonly ProviderPerson[],
  ): Promise<void> {
    const configured = new Set(this.configured.map(({ name }) => name));
    const tokens = rows.filter(({ name }) => !configured.has(name));
    const kept = new Set([...tokens, ...people].map(({ id }) => id));
    const tokensGone = this.issued.filter(({ id }) => !kept.has(id));
    const now = new Map(people.map((person) => [person.id, person]));
    const peopleLess = this.people.filter((person) => mayLess(person, now.get(person.id)));
    this.collectUsed();
    this.issued = tokens;
    this.people = people;
    this.known.clear();
    this.accounts.clear();
    for (const { hash, name, scopes } of this.configured) {
      const principal = tokenPrincipal(name, scopes, subjectIn('token', name));
      const account = `configured:${this.configuredAccounts.get(name) ?? ''}`;
      this.add(hash, { principal, account, until: Infinity });
    }
    for (const token of tokens) {
      const { id, name, scopes, view } = token;
      const subject = subjectIn('issued', id);
      const principal = { ...tokenPrincipal(name, scopes, subject), ...(view && { pinned: view }) };
      for (const [hash, until] of acceptedHashes(token)) {
        this.add(hash, { principal, account: accountOf(id, hash), until, id });
      }
    }
    for (const person of people) this.addPerson(person);
    const subjects = [
      ...tokensGone.map(({ id }) => subjectIn('issued', id)),
      ...peopleLess.map((person) => this.subjectOf(person)),
    ];
    if (subjects.length > 0) await this.signals.tell(new TokensWithdrawn(subjects));
  }

  /** The same caller as with a JWT of the identity provider. */
  private addPerson(person: ProviderPerson): void {
    const { id, subject, label, scopes, groups, sessionHash, endsAt } = person;
    const principal = {
      name: nameOf(person),
      scopes,
      subjects: subjectsOf(subject, undefined, groups),
      subject: this.subjectOf(person),
    };
    this.add(sessionHash, { principal, account: `person:${id}`, until: endsAt.getTime(), label });
  }

  private subjectOf({ subject }: ProviderPerson): string {
    return subjectIn('jwt', subject, this.env.MCP_AGGREGATOR_LOGIN_ISSUER);
  }

  private add(hash: string, known: Omit<Known, 'digest' | 'isUsed'>): void {
    const digest = Buffer.from(hash, 'hex');
    this.known.set(keyOf(digest.toString('latin1')), { ...known, digest, isUsed: false });
    this.accounts.set(known.account, known);
  }

  private collectUsed(): void {
    for (const known of this.known.values()) {
      if (known.isUsed && known.id !== undefined) this.used.add(known.id);
      known.isUsed = false;
    }
  }

  private async readConfigured(): Promise<readonly ConfiguredToken[]> {
    const { MCP_AGGREGATOR_TOKENS: tokens = [], MCP_AGGREGATOR_JWKS_URL: jwks } = this.env;
    if (tokens.length > 0 || jwks) return tokens;
    const { file, token, isNew, isExposed } = await adminToken(this.env.MCP_AGGREGATOR_DATA_DIR);
    if (isNew) this.newToken = token;
    this.logger.log(
      { file, hint: 'no tokens are configured; the admin token is in this file' },
      'access.admin_token_made',
    );
    if (isExposed)
      this.logger.warn(
        { file, hint: 'other users of this machine can read this file' },
        'access.admin_token_exposed',
      );
    return [{ name: 'first-start-admin', scopes: ['admin'], hash: tokenHash(token) }];
  }
}

function nameOf({ subject }: ProviderPerson): string {
  const name = principalName('jwt', subject);
  // It had one when its person logged in.
  if (name === undefined) throw new Error('an account has no usable subject');
  return name;
}

function tokenPrincipal(name: string, scopes: Principal['scopes'], subject: string): Principal {
  return { name, scopes, subjects: [`token:${name}`], subject };
}

/** Streams that are open would keep serving what the person could see before. */
function mayLess(before: ProviderPerson, now: ProviderPerson | undefined): boolean {
  if (!now) return true;
  return (
    before.scopes.some((scope) => !now.scopes.includes(scope)) ||
    before.groups.some((group) => !now.groups.includes(group))
  );
}

/** Clients see it in their access tokens, so it is not the hash that a login is compared with. */
function accountOf(id: string, secretHash: string): string {
  return `token:${id}:${tokenHash(`account ${secretHash}`).slice(0, 32)}`;
}

/** A prefix for the lookup; the whole hash is then compared in constant time. */
function keyOf(hash: string): string {
  return hash.slice(0, 8);
}
