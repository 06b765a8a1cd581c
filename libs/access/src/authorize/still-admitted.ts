import { Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { Unauthorized } from '../access.errors.js';
import { Authenticator } from '../authenticate/authenticator.js';
import type { Principal } from '../authenticate/principal.js';

/** For streams, which are answered longer than their credentials may be valid. */
@Injectable()
export class StillAdmitted {
  constructor(private readonly authenticator: Authenticator) {}

  /**
   * Who sends the request now, or undefined when its credentials are refused by now. What another replica passed on is
   * ended by that one. While the keys of an issuer cannot be fetched, a request stays admitted.
   */
  async find(request: FastifyRequest): Promise<Principal | undefined> {
    if (request.passedBy) return request.principal;
    try {
      return await this.authenticator.authenticate(request);
    } catch (error) {
      return error instanceof Unauthorized ? undefined : request.principal;
    }
  }
}
