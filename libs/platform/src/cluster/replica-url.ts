import { type AddressInfo, isIP } from 'node:net';
import { networkInterfaces } from 'node:os';

/** Where other machines reach a server that listens on `listening`; on an address of its own, that one. */
export function replicaUrl(
  { address, port }: Pick<AddressInfo, 'address' | 'port'>,
  interfaces: ReturnType<typeof networkInterfaces> = networkInterfaces(),
): string {
  const isAnywhere = address === '0.0.0.0' || address === '::';
  const host = isAnywhere ? (externalAddress(interfaces) ?? '127.0.0.1') : address;
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/** IPv4 first; link-local addresses need the name of an interface. */
function externalAddress(interfaces: ReturnType<typeof networkInterfaces>): string | undefined {
  const all = Object.values(interfaces).flatMap((addresses) => addresses ?? []);
  const external = all.filter(
    ({ internal, address }) => !internal && !/^(fe80:|169\.254\.)/i.test(address),
  );
  return (external.find(({ family }) => family === 'IPv4') ?? external[0])?.address;
}

/** For the certificate of another replica: Node would take the name from the `Host` header, which is the client's. */
export function tlsName({ hostname }: URL): string {
  const name = hostname.replace(/^\[(.*)\]$/, '$1');
  return isIP(name) === 0 ? name : '';
}
