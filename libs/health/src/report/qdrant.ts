import type { Env } from '@app/platform';
import type { QdrantState } from './health-report.js';

/** Whether the configured Qdrant is ready; `embedded` when the index is in this process. */
export async function qdrantCheck(
  env: Pick<Env, 'QDRANT_URL' | 'QDRANT_API_KEY'>,
  withinMs: number,
): Promise<QdrantState> {
  if (!env.QDRANT_URL) return 'embedded';
  try {
    const answer = await fetch(new URL('/readyz', env.QDRANT_URL), {
      headers: env.QDRANT_API_KEY ? { 'api-key': env.QDRANT_API_KEY } : {},
      signal: AbortSignal.timeout(withinMs),
    });
    await answer.body?.cancel();
    return answer.ok ? 'ok' : 'down';
  } catch {
    return 'down'; // refused, too slow, or not HTTP: search falls back to lexical in each case
  }
}
