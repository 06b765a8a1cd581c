import { errorCode } from './error-code.js';

const words: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'Connection refused',
  ECONNRESET: 'Connection reset',
  ECONNABORTED: 'Connection aborted',
  EPIPE: 'Connection closed',
  ETIMEDOUT: 'Connection timed out',
  EHOSTUNREACH: 'Host unreachable',
  ENETUNREACH: 'Network unreachable',
  ENOTFOUND: 'Host name not found',
  EAI_AGAIN: 'Host name lookup failed',
  CERT_HAS_EXPIRED: 'Certificate has expired',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'Certificate is self-signed',
  SELF_SIGNED_CERT_IN_CHAIN: 'Certificate chain is self-signed',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'Certificate issuer is unknown',
  ERR_TLS_CERT_ALTNAME_INVALID: 'Certificate is for another host',
};

/**
 * Why a connection failed, in words and as Node's code; undefined for other errors. Node's own messages may contain
 * addresses.
 */
export function connectionProblem(error: unknown): string | undefined {
  const code = errorCode(error);
  if (code === undefined || !Object.hasOwn(words, code)) return undefined;
  return `${words[code]} (${code})`;
}
