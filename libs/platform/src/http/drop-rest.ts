import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';

export interface DropLimits {
  /** Of the rest of the body. */
  readonly bytes: number;
  /** From the answer on. */
  readonly ms: number;
}

/** What a client on an ordinary connection sends before it notices the answer. */
const USUAL: DropLimits = { bytes: 67_108_864, ms: 15_000 };

/** Whether the answer comes before the end of the request. */
export function isStillSending({ complete, headers }: IncomingMessage): boolean {
  if (complete) return false;
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length']) > 0;
}

/**
 * To be called before an answer to a client that is still sending: reads the rest of the body and drops it, so that the
 * client reads the answer. Closing a connection with unread bytes resets it, and a reset discards the answer
 * (RFC 9112, 9.6). Beyond the limits the connection is closed anyway.
 */
export function dropRest(request: IncomingMessage, limits: DropLimits = USUAL): void {
  const { socket } = request;
  const cut = (): void => void socket.destroy();
  const late = setTimeout(cut, limits.ms).unref();
  const isOver = (): void => clearTimeout(late);
  let left = limits.bytes;
  request.on('data', ({ length }: Buffer) => {
    left -= length;
    if (left < 0) cut();
  });
  request.once('end', () => {
    isOver();
    socket.removeListener('close', isOver);
  });
  // After the response, a request no longer emits `close` for its connection.
  socket.once('close', isOver);
  closeInStages(request, socket);
}

/** Where Node would close the connection with its answer, only our side is closed until the body has ended. */
function closeInStages(request: IncomingMessage, socket: Socket): void {
  const destroySoon = socket.destroySoon.bind(socket);
  socket.destroySoon = () => {
    socket.destroySoon = destroySoon;
    if (request.readableEnded) return destroySoon();
    socket.end();
    request.once('end', destroySoon);
  };
}
