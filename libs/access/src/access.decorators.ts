import {
  createParamDecorator,
  type CustomDecorator,
  type ExecutionContext,
  SetMetadata,
} from '@nestjs/common';
import type { TokenScope } from '@app/platform';
import type { FastifyRequest } from 'fastify';
import type { Actor, Principal } from './principal.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** Set by the access guard on every route that needs a token. */
    principal?: Principal;
  }
}

export const SCOPE_KEY = 'access:scope';
export const PUBLIC_KEY = 'access:public';

/** The scope a route or controller needs; `admin` includes `call`, `call` includes `read`. */
export const RequireScope = (scope: TokenScope): CustomDecorator => SetMetadata(SCOPE_KEY, scope);

/** A route that answers without a token. */
export const Public = (): CustomDecorator => SetMetadata(PUBLIC_KEY, true);

/** The caller, as the audit log names them. */
export const CurrentActor = createParamDecorator((_: unknown, context: ExecutionContext): Actor => {
  const request = context.switchToHttp().getRequest<FastifyRequest>();
  return { name: request.principal?.name ?? 'anonymous', ip: request.ip };
});
