import type { FastifyReply } from 'fastify';
import { EventEmitter } from 'node:events';
import { whileConnected } from './while-connected.js';

describe(whileConnected.name, () => {
  const replyTo = (isGone: boolean, isFinished = false) => {
    const raw = Object.assign(new EventEmitter(), {
      destroyed: false,
      writableFinished: isFinished,
    });
    const request = { raw: { socket: { destroyed: isGone } } };
    return { raw, reply: { raw, request } as unknown as FastifyReply };
  };

  it('is aborted when the client disconnects before it has its answer', () => {
    const { raw, reply } = replyTo(false);
    const signal = whileConnected(reply);
    expect(signal.aborted).toBe(false);
    raw.emit('close');
    expect(signal.aborted).toBe(true);
  });

  it('is aborted at once when the client disconnected before that', () => {
    expect(whileConnected(replyTo(true).reply).aborted).toBe(true);
  });

  it('is not aborted by the end of a connection that has carried the answer', () => {
    const { raw, reply } = replyTo(false, true);
    const signal = whileConnected(reply);
    raw.emit('close');
    expect(signal.aborted).toBe(false);
  });
});
