import { normalizeIP } from '@fastify/rate-limit';
import { addressOf, RateLimited } from '@app/access';
import type { FastifyInstance, FastifyRequest } from 'fastify';

export type Limiter = ReturnType<FastifyInstance['createRateLimit']>;

/** IPv6 addresses count by /64: one machine may use all of them. */
export function networkOf(request: FastifyRequest): string {
  return normalizeIP(addressOf(request) ?? '');
}

export async function refuseExcess(limit: Limiter, request: FastifyRequest): Promise<void> {
  const count = await limit(request);
  if (!count.isAllowed && count.isExceeded) throw new RateLimited(count.ttlInSeconds);
}
