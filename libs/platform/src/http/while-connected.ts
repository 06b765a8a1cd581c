import type { FastifyReply } from 'fastify';
import { Cancellation, type CancelSignal } from '../work/cancellation.js';

/** Aborted when the HTTP client disconnects before the response: the call is cancelled. */
export function whileConnected(reply: FastifyReply): CancelSignal {
  const cancellation = new Cancellation();
  reply.raw.once('close', () => {
    if (!reply.raw.writableFinished) cancellation.abort(new Error('the client went away'));
  });
  return cancellation;
}
