import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import { ApiExtension } from '@nestjs/swagger';
import { configureRoute, type TokenScope } from '@app/platform';
import type { FastifyRequest } from 'fastify';
import {
  type Actor,
  addressOf,
  ANONYMOUS,
  hasScope,
  type Principal,
} from '../authenticate/principal.js';

/** The scope that a route needs, or `public`. */
export type AccessRule = TokenScope | 'public';

declare module 'fastify' {
  interface FastifyRequest {
    /** Set before the handler runs, on every route that needs a token. */
    principal?: Principal;
    /** Set when another replica passed the request on, which it never does twice. */
    passedBy?: { readonly ip: string | null };
    /** Counts further calls of the same request against the rate limit; undefined when there is none. */
    countMore?: (calls: number) => Promise<void> | undefined;
    /** Counts wrong credentials that a handler refuses; rejects with RateLimited when there are too many. */
    countFailure?: () => Promise<void>;
  }
  interface FastifyContextConfig {
    /** Set by the decorators below; to be set by hand on routes added to Fastify directly. */
    access?: AccessRule;
    /** Requests of files that anyone may read: they do not count against the rate limit. */
    isUncounted?: boolean;
    /** Pages of any origin may use it: it takes no credentials that a browser sends by itself. */
    isForAnyOrigin?: boolean;
  }
}

/** On a method: the scope of the route. On a class: the scope of its routes without an own rule. */
export const RequireScope = (scope: TokenScope): ClassDecorator & MethodDecorator => rule(scope);

/** The route needs no token. */
export const Public = (): ClassDecorator & MethodDecorator => rule('public');

/** The caller, for the audit log. */
export const CurrentActor = createParamDecorator((_: unknown, context: ExecutionContext): Actor =>
  actorOf(context.switchToHttp().getRequest<FastifyRequest>()),
);

/** Who sent the request. Only for routes that need a token. */
export const CurrentPrincipal = createParamDecorator(
  (_: unknown, context: ExecutionContext): Principal =>
    principalOf(context.switchToHttp().getRequest<FastifyRequest>()),
);

/** Without a token nothing is granted. */
export function principalOf({ principal }: FastifyRequest): Principal {
  return principal ?? { name: ANONYMOUS, scopes: [], subjects: [] };
}

export function actorOf(request: FastifyRequest): Actor {
  const { principal } = request;
  return {
    name: principal?.name ?? ANONYMOUS,
    ip: addressOf(request),
    subject: principal?.subject,
  };
}

/** Whether the caller has a scope beyond the one that the route requires. */
export const CallerMay = createParamDecorator((scope: TokenScope, context: ExecutionContext) =>
  callerMay(scope, context.switchToHttp().getRequest<FastifyRequest>()),
);

export function callerMay(scope: TokenScope, { principal }: FastifyRequest): boolean {
  return principal !== undefined && hasScope(principal, scope);
}

const RULE = Symbol('access rule');

/** Stores the rule in the Fastify route configuration, where AccessControl reads it. */
function rule(access: AccessRule): ClassDecorator & MethodDecorator {
  return (target: object, _key?: string | symbol, descriptor?: PropertyDescriptor): void => {
    if (descriptor) return mark(descriptor.value, access);
    if (typeof target !== 'function') return;
    // Method decorators run before the class decorator, so their own rules are set already.
    for (const { value } of Object.values(Object.getOwnPropertyDescriptors(target.prototype))) {
      if (typeof value === 'function' && !Reflect.hasMetadata(RULE, value)) mark(value, access);
    }
  };
}

function mark(method: unknown, access: AccessRule): void {
  if (typeof method !== 'function') return;
  Reflect.defineMetadata(RULE, access, method);
  configureRoute(method, { access });
  if (access === 'public') return;
  // OpenAPI shows the same scope.
  ApiExtension('x-required-scope', access)(method, '', { value: method });
}
