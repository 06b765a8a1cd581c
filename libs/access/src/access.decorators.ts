import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import { RouteConfig } from '@nestjs/platform-fastify';
import { ApiExtension } from '@nestjs/swagger';
import type { TokenScope } from '@app/platform';
import type { FastifyRequest } from 'fastify';
import { type Actor, addressOf, ANONYMOUS, hasScope, type Principal } from './principal.js';

/** What a caller needs for a route. */
export type AccessRule = TokenScope | 'public';

declare module 'fastify' {
  interface FastifyRequest {
    /** Set before the handler of every route that needs a token. */
    principal?: Principal;
  }
  interface FastifyContextConfig {
    /** Set by the decorators below, or by hand on a route that is added to Fastify directly. */
    access?: AccessRule;
  }
}

/** The scope a route, or every route of a controller without one of its own, needs. */
export const RequireScope = (scope: TokenScope): ClassDecorator & MethodDecorator => rule(scope);

/** A route that answers without a token. */
export const Public = (): ClassDecorator & MethodDecorator => rule('public');

/** The caller, as the audit log names them. */
export const CurrentActor = createParamDecorator((_: unknown, context: ExecutionContext): Actor =>
  actorOf(context.switchToHttp().getRequest<FastifyRequest>()),
);

export function actorOf(request: FastifyRequest): Actor {
  return { name: request.principal?.name ?? ANONYMOUS, ip: addressOf(request) };
}

/** Whether the caller has a scope that the route as a whole does not ask for. */
export const CallerMay = createParamDecorator((scope: TokenScope, context: ExecutionContext) =>
  callerMay(scope, context.switchToHttp().getRequest<FastifyRequest>()),
);

export function callerMay(scope: TokenScope, { principal }: FastifyRequest): boolean {
  return principal !== undefined && hasScope(principal, scope);
}

const RULE = Symbol('access rule');

/** Written into the route's configuration in Fastify, where it is read before the body is. */
function rule(access: AccessRule): ClassDecorator & MethodDecorator {
  return (target: object, _key?: string | symbol, descriptor?: PropertyDescriptor): void => {
    if (descriptor) return mark(descriptor.value, access);
    if (typeof target !== 'function') return;
    // Decorators of methods run before the one of their class, so their own rule is there already.
    for (const { value } of Object.values(Object.getOwnPropertyDescriptors(target.prototype))) {
      if (typeof value === 'function' && !Reflect.hasMetadata(RULE, value)) mark(value, access);
    }
  };
}

function mark(method: unknown, access: AccessRule): void {
  if (typeof method !== 'function') return;
  Reflect.defineMetadata(RULE, access, method);
  RouteConfig({ access })(method);
  if (access === 'public') return;
  // The API description says the same as the rule, because it is written with it.
  ApiExtension('x-required-scope', access)(method, '', { value: method });
}
