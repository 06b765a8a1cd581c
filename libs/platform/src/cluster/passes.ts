import { Injectable } from '@nestjs/common';
import { createHmac, timingSafeEqual } from 'node:crypto';
import { z } from 'zod';
import { type TokenScope, tokenScopes } from '../config/token-scopes.js';
import { AppError } from '../errors/app-error.js';
import { ClusterKeys } from './cluster-keys.js';
import { Peers } from './peers.js';

/** The `Authorization` of a request that another replica passed on. */
export const PASS_SCHEME = 'Switchboard-Pass';
/** The sealed JWT of the caller, beside a pass. */
export const CALLER_TOKEN_HEADER = 'x-switchboard-caller-token';
const MAX_CHARS = 8_192;
/** How far requests of one replica may overtake each other; more than run at the same time. */
const WINDOW = 65_536;
const MAX_SENDERS = 1_000;

const isScope = (scope: string): scope is TokenScope =>
  tokenScopes.some((known) => known === scope);

/** Keys and scopes of a later version are ignored (`PEER_PROTOCOL`). */
const schema = z.object({
  from: z.uuid(),
  to: z.uuid(),
  /** Counts the passes of the sender to this receiver. */
  n: z.int().positive(),
  method: z.string(),
  path: z.string(),
  principal: z.object({
    name: z.string().min(1),
    scopes: z
      .array(z.string())
      .transform((scopes) => scopes.filter(isScope))
      .readonly(),
    subjects: z.array(z.string()).readonly(),
    subject: z.string().optional(),
    pinned: z.object({ viewId: z.string(), level: z.string() }).optional(),
    client: z.string().optional(),
  }),
  ip: z.string().nullable(),
  requestId: z.string(),
});

/** What a replica knows of a request that it passes on. */
export type PassedRequest = Pick<
  z.infer<typeof schema>,
  'method' | 'path' | 'principal' | 'ip' | 'requestId'
>;

/** The pass of a request, if it has one. */
export function passIn(authorization: string | undefined): string | undefined {
  return authorization?.startsWith(`${PASS_SCHEME} `)
    ? authorization.slice(PASS_SCHEME.length + 1)
    : undefined;
}

/** The pass is of a replica on this database, but for a process that listened here before. */
export class PassMisdirected extends AppError {
  constructor() {
    super('This request was passed on to a replica that is gone; nothing was executed', {
      kind: 'conflict',
      code: 'REPLICA_GONE',
      context: { outcome: 'not executed' },
    });
  }
}

/** The pass is not of a replica on this database, not for this request, or was used before. */
export class PassRefused extends Error {}

/**
 * One-time proofs that a request comes from another replica on this database, which has authenticated its sender. A
 * pass names both processes and a count, so that it is valid for one request to one process: no clocks are compared.
 */
@Injectable()
export class Passes {
  private readonly keys: readonly Buffer[];
  private readonly counts = new Map<string, number>();
  private readonly used = new Map<string, ReplayWindow>();

  constructor(
    keys: ClusterKeys,
    private readonly peers: Peers,
  ) {
    this.keys = keys.derive('requests between replicas');
  }

  issue(to: string, request: PassedRequest): string {
    const n = (this.counts.get(to) ?? 0) + 1;
    this.counts.delete(to);
    this.counts.set(to, n);
    if (this.counts.size > MAX_SENDERS) forgetOldest(this.counts);
    const pass = { from: this.peers.self, to, n, ...request };
    const text = Buffer.from(JSON.stringify(pass)).toString('base64url');
    // While keys are rotated, a replica may know only one of the two.
    return [text, ...this.keys.map((key) => mac(key, text).toString('base64url'))].join('.');
  }

  /** Throws PassRefused or PassMisdirected. */
  redeem(header: string, method: string, path: string): PassedRequest {
    const [text = '', ...macs] = header.length > MAX_CHARS ? [] : header.split('.');
    if (!this.peers.isClustered || !this.isProven(text, macs)) throw new PassRefused('not proven');
    const pass = schema.parse(JSON.parse(Buffer.from(text, 'base64url').toString()));
    if (pass.method !== method || pass.path !== path) throw new PassRefused('for another request');
    if (pass.to !== this.peers.self) throw new PassMisdirected();
    if (!this.windowOf(pass.from).use(pass.n)) throw new PassRefused('used before');
    const { principal, ip, requestId } = pass;
    return { method, path, principal, ip, requestId };
  }

  private isProven(text: string, macs: readonly string[]): boolean {
    return this.keys.some((key) => {
      const expected = mac(key, text);
      return macs.slice(0, 2).some((given) => {
        const bytes = Buffer.from(given, 'base64url');
        return bytes.length === expected.length && timingSafeEqual(bytes, expected);
      });
    });
  }

  private windowOf(sender: string): ReplayWindow {
    const window = this.used.get(sender) ?? new ReplayWindow();
    this.used.delete(sender);
    this.used.set(sender, window);
    if (this.used.size > MAX_SENDERS) forgetOldest(this.used);
    return window;
  }
}

/** Which counts of one sender were used (as IPsec does it, RFC 4303 §3.4.3): what is older than the window counts as used. */
export class ReplayWindow {
  private readonly bits = new Uint8Array(WINDOW / 8);
  private highest = 0;

  /** False when it was used before, or may have been. */
  use(n: number): boolean {
    if (n <= this.highest - WINDOW) return false;
    if (n > this.highest) {
      if (n - this.highest >= WINDOW) this.bits.fill(0);
      else for (let between = this.highest + 1; between <= n; between++) this.set(between, false);
      this.highest = n;
    } else if (this.isSet(n)) return false;
    this.set(n, true);
    return true;
  }

  private isSet(n: number): boolean {
    return ((this.bits[(n % WINDOW) >> 3] ?? 0) & (1 << (n & 7))) !== 0;
  }

  private set(n: number, to: boolean): void {
    const at = (n % WINDOW) >> 3;
    const bits = this.bits[at] ?? 0;
    this.bits[at] = to ? bits | (1 << (n & 7)) : bits & ~(1 << (n & 7));
  }
}

function mac(key: Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest();
}

function forgetOldest(map: Map<string, unknown>): void {
  for (const key of map.keys()) {
    map.delete(key);
    return;
  }
}
