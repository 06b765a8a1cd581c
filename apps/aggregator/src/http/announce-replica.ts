import type { INestApplicationContext } from '@nestjs/common';
import { Leadership, Peers, replicaUrl } from '@app/platform';
import type { FastifyInstance } from 'fastify';

/** Tells the other replicas where they reach this one, as soon as it listens. */
export function announceReplica(app: INestApplicationContext, fastify: FastifyInstance): void {
  const peers = app.get(Peers);
  fastify.server.once('listening', () => {
    const address = fastify.server.address();
    if (address === null || typeof address === 'string') return;
    peers.url ??= replicaUrl(address);
    void app.get(Leadership).refresh();
  });
}
