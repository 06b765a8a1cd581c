import type { FastifyReply } from 'fastify';
import { Cancellation, type CancelSignal } from '../cancellation.js';

/** Aborted when the HTTP client goes away before its answer: nobody wants the call any more. */
export function whileConnected(reply: FastifyReply): CancelSignal {
  const cancellation = new Cancellation();
  reply.raw.once('close', () => {
    if (!reply.raw.writableFinished) cancellation.abort(new Error('the client went away'));
  });
  return cancellation;
}
