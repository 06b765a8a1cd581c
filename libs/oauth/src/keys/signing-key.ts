import { isJsonObject, type JsonObject } from '@app/platform';
import { generateKeyPairSync, randomBytes } from 'node:crypto';

export const SIGNING_ALGORITHM = 'ES256';

export interface SigningKey {
  readonly kid: string;
  readonly jwk: JsonObject;
}

export function newSigningKey(): SigningKey {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const kid = randomBytes(12).toString('base64url');
  const jwk: unknown = privateKey.export({ format: 'jwk' });
  if (!isJsonObject(jwk)) throw new Error('a key is exported as an object');
  return { kid, jwk: { ...jwk, kid, alg: SIGNING_ALGORITHM, use: 'sig' } };
}
