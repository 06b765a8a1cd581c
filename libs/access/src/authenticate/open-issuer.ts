import type { Clock, Egress } from '@app/platform';
import type { JWTPayload } from 'jose';
import type { IssuerOrigin } from './issuer.js';

export interface IdTokens {
  /** The claims of a valid token of the issuer, for whatever audience; rejects with JwtRefused or KeysUnavailable. */
  read(token: string): Promise<JWTPayload>;
}

/** Imports jose, which a service without JWTs does not need. */
export async function openIssuer(
  origin: IssuerOrigin,
  clock: Clock,
  egress: Egress,
): Promise<IdTokens> {
  const { Issuer } = await import('./issuer.js');
  return new Issuer(origin, clock, egress);
}
