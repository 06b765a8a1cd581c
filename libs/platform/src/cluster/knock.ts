import net from 'node:net';
import { errorCode } from '../errors/error-code.js';

/** `refused`: the machine answered that no process listens there. `unknown`: anything else, such as no answer. */
export type Knock = 'accepted' | 'refused' | 'unknown';

/** Whether a process accepts connections at this URL; a stopped process does, because its kernel accepts for it. */
export function knock(url: string, withinMs: number): Promise<Knock> {
  const { protocol, hostname, port } = new URL(url);
  const defaultPort = protocol === 'https:' ? 443 : 80;
  const host = hostname.replace(/^\[(.*)\]$/, '$1');
  return new Promise((resolve) => {
    const socket = net.connect({ host, port: Number(port) || defaultPort });
    const end = (knocked: Knock): void => {
      resolve(knocked);
      socket.destroy();
    };
    socket.setTimeout(withinMs, () => end('unknown'));
    socket.once('connect', () => end('accepted'));
    socket.on('error', (error) => end(isRefused(error) ? 'refused' : 'unknown'));
  });
}

/** A name may have several addresses; all of them have to refuse. */
function isRefused(error: unknown): boolean {
  const errors: unknown = typeof error === 'object' && error && 'errors' in error && error.errors;
  if (Array.isArray(errors)) return errors.every((one) => errorCode(one) === 'ECONNREFUSED');
  return errorCode(error) === 'ECONNREFUSED';
}
