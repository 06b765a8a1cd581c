import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { Clock, connectionProblem, Egress, product } from '@app/platform';
import type { Agent } from 'undici';
import type { Delivery } from '../rows/delivery.store.js';
import { signedHeaders, type WebhookTarget } from '../webhook.js';

const ANSWER_WITHIN_MS = 10_000;
/** Read to keep the connection. */
const MAX_ANSWER_BYTES = 16_384;

/** Sends one event. Only 2xx takes it; redirects are not followed, and the body of the answer is ignored. */
@Injectable()
export class PostDelivery implements OnApplicationShutdown {
  private agent: Promise<Agent> | undefined;

  constructor(
    private readonly egress: Egress,
    private readonly clock: Clock,
  ) {}

  async onApplicationShutdown(): Promise<void> {
    await (await this.agent)?.destroy();
  }

  /** The reason why the event was not taken; undefined if it was. */
  async post(
    { url, secret }: WebhookTarget,
    { messageId, body }: Delivery,
    signal: AbortSignal,
  ): Promise<string | undefined> {
    const { request } = await import('undici');
    this.agent ??= this.egress.agent();
    try {
      const answer = await request(url, {
        method: 'POST',
        dispatcher: await this.agent,
        signal: AbortSignal.any([signal, AbortSignal.timeout(ANSWER_WITHIN_MS)]),
        headers: {
          'content-type': 'application/json',
          'user-agent': `switchboard/${product.version}`,
          ...signedHeaders(secret, messageId, this.clock.now(), body),
        },
        body,
      });
      // Its status has decided.
      await answer.body.dump({ limit: MAX_ANSWER_BYTES }).catch(() => undefined);
      const { statusCode } = answer;
      return statusCode >= 200 && statusCode < 300 ? undefined : `it answered ${statusCode}`;
    } catch (error) {
      if (String(error).startsWith('TimeoutError:')) return 'it did not answer within 10 s';
      return connectionProblem(error) ?? (error instanceof Error ? error.message : String(error));
    }
  }
}
