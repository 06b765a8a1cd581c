import { type JsonObject, isJsonObject } from '@app/platform';
import type { Adapter, AdapterPayload } from 'oidc-provider';
import type { RecordStore } from '../rows/record.store.js';

/** What the adapter of grants does beside its record. */
export interface GrantLifecycle {
  /** A client got another token. */
  used(grantId: string): Promise<void>;
  /** A refresh token was used twice, or the client revoked its token. */
  ended(grantId: string): Promise<void>;
  /** Of two requests with one code or refresh token at about the same moment, the second. */
  refuseSecondUse(): Error;
  refuseClient(): Error;
  /** Whether the token endpoint asks. */
  readonly isRedeeming: boolean;
  /** Of the client that asks. */
  readonly network: string;
}

/** Kinds that are not kept: logins are browser sessions of this service, access tokens are JWTs. */
const NOT_KEPT = new Set(['Session', 'AccessToken', 'ReplayDetection']);

/** Storage of oidc-provider in the rows of `mcp.oauth_records`. */
export class RecordsAdapter implements Adapter {
  constructor(
    private readonly kind: string,
    private readonly store: RecordStore,
    private readonly grants: GrantLifecycle,
  ) {}

  async upsert(id: string, payload: AdapterPayload, expiresIn?: number): Promise<void> {
    if (NOT_KEPT.has(this.kind)) return;
    const json = jsonOf(payload);
    if (this.kind === 'Client') {
      if (!(await this.store.saveClient(id, json, this.grants.network)))
        throw this.grants.refuseClient();
      return;
    }
    await this.store.save(this.kind, id, json, expiresIn);
    const { grantId } = payload;
    if (this.kind === 'RefreshToken' && grantId !== undefined) await this.grants.used(grantId);
  }

  async find(id: string): Promise<AdapterPayload | undefined> {
    if (NOT_KEPT.has(this.kind)) return undefined;
    const found = await this.store.find(this.kind, id);
    // Processes of a client that share a token refresh it at once: that ends nothing, a later use ends the grant.
    if (this.kind === 'RefreshToken' && found?.isJustUsed && this.grants.isRedeeming) {
      throw this.grants.refuseSecondUse();
    }
    return found && { ...found.payload, ...(found.consumedAt && { consumed: true }) };
  }

  async consume(id: string): Promise<void> {
    if (!(await this.store.consume(this.kind, id))) throw this.grants.refuseSecondUse();
  }

  async destroy(id: string): Promise<void> {
    if (this.kind === 'Grant') return this.grants.ended(id);
    if (!NOT_KEPT.has(this.kind)) await this.store.delete(this.kind, id);
  }

  /** The end of the grant deletes all of its records. */
  async revokeByGrantId(): Promise<void> {}

  async findByUserCode(): Promise<undefined> {}

  async findByUid(): Promise<undefined> {}
}

function jsonOf(payload: AdapterPayload): JsonObject {
  const json: unknown = JSON.parse(JSON.stringify(payload));
  if (!isJsonObject(json)) throw new Error('a record is an object');
  return json;
}
