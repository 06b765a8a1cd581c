import type { HealthView } from '@app/api-client';
import { queryOptions } from '@tanstack/react-query';
import { Refused } from '../../api/refused.js';
import { ask } from '../../api/service.js';

const REFRESH_MS = 10_000;

/** An unhealthy service says so with status 503 and the same body. */
function isHealth(body: unknown): body is HealthView {
  return typeof body === 'object' && body !== null && 'checks' in body && 'status' in body;
}

export const healthQuery = queryOptions({
  queryKey: ['health', 'service'],
  queryFn: async (): Promise<HealthView> => {
    try {
      return await ask((api) => api.getHealth());
    } catch (error) {
      if (error instanceof Refused && isHealth(error.body)) return error.body;
      throw error;
    }
  },
  refetchInterval: REFRESH_MS,
});

export const settingsQuery = queryOptions({
  queryKey: ['settings'],
  queryFn: async () => (await ask((api) => api.listSettings())).settings,
  // They are read when the service starts.
  staleTime: 60_000,
});

export const webhooksQuery = queryOptions({
  queryKey: ['webhooks'],
  queryFn: async () => (await ask((api) => api.listWebhooks({ query: { limit: 500 } }))).webhooks,
  // What waits and what was taken changes by itself.
  refetchInterval: REFRESH_MS,
});
