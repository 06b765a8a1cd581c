import { randomUUID } from 'node:crypto';

/** What the endpoint knows of the other replicas. */
export interface ClusterView {
  /** The id of this replica. */
  readonly self: string;
  /** Whether other replicas are there. */
  readonly hasOthers: boolean;
}

const UUID = '[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}';
const OWNED = new RegExp(`^${UUID}\\.(${UUID})$`);

/** Unguessable; among replicas it names the one that keeps the session. */
export function newSessionId(cluster: ClusterView | undefined): string {
  return cluster ? `${randomUUID()}.${cluster.self}` : randomUUID();
}

/** The id of the replica that gave the session its id. */
export function ownerOfSession(id: unknown): string | undefined {
  return typeof id === 'string' ? OWNED.exec(id)?.[1] : undefined;
}
