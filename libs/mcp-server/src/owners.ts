import { isJsonObject } from '@app/platform';
import { randomUUID } from 'node:crypto';

/** What the endpoint knows of the other replicas. */
export interface ClusterView {
  /** The id of this replica. */
  readonly self: string;
  /** Whether other replicas are there. */
  readonly hasOthers: boolean;
  /** Keys that all replicas share, for state that clients carry; two while they are rotated. */
  readonly stateKeys: readonly [Buffer, ...Buffer[]];
}

const UUID = '[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}';
const OWNED_SESSION = new RegExp(`^${UUID}\\.(${UUID})$`);

const OWNED_STATE = new RegExp(`^([\\w~-]+)\\.(${UUID})$`);

/** Unguessable; among replicas it names the one that keeps the session. */
export function newSessionId(cluster: ClusterView | undefined): string {
  return cluster ? `${randomUUID()}.${cluster.self}` : randomUUID();
}

/** The id of the replica that gave the session its id. */
export function ownerOfSession(id: unknown): string | undefined {
  return typeof id === 'string' ? OWNED_SESSION.exec(id)?.[1] : undefined;
}

/** Sealed state of a call that waits at this replica, readable for others as far as they need it. */
export function ownedState(sealed: string, cluster: ClusterView | undefined): string {
  return cluster ? `${sealed}.${cluster.self}` : sealed;
}

/** `requestState` without its owner; undefined for state that any replica can open. */
export function sealedIn(requestState: string): { sealed: string; owner: string | undefined } {
  const [, sealed = requestState, owner] = OWNED_STATE.exec(requestState) ?? [];
  return { sealed, owner };
}

/** The replica at which the call waits that this body answers. */
export function ownerOfCall(body: unknown): string | undefined {
  const params = isJsonObject(body) ? body['params'] : undefined;
  const state = isJsonObject(params) ? params['requestState'] : undefined;
  return typeof state === 'string' ? sealedIn(state).owner : undefined;
}
