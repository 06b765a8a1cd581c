import { RouteConfig } from '@nestjs/platform-fastify';
import type { FastifyContextConfig, RouteOptions } from 'fastify';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Set by `BodyLimit`, or by hand on a route that is added to Fastify directly. */
    bodyLimit?: number;
  }
}

/** In bytes. `usual` applies to all other routes. */
export const bodyLimits = {
  usual: 65_536,
  /** Texts of maximum length, or a thousand names, in a script with three bytes per character. */
  long: 1_048_576,
  /** Arguments of tools: MCP_AGGREGATOR_BODY_LIMIT alone decides. */
  any: Number.MAX_SAFE_INTEGER,
} as const;

/** Raises the body limit of a route. */
export const BodyLimit =
  (limit: keyof typeof bodyLimits): MethodDecorator =>
  (_target, _key, { value }) => {
    if (typeof value === 'function') configureRoute(value, { bodyLimit: bodyLimits[limit] });
  };

const CONFIG = Symbol('route configuration');

/** Merges into the route's Fastify configuration; `RouteConfig` alone replaces what other decorators wrote. */
export function configureRoute(
  handler: NewableFunction | CallableFunction,
  config: FastifyContextConfig,
): void {
  const before = Reflect.getMetadata(CONFIG, handler) as FastifyContextConfig | undefined;
  const merged = { ...before, ...config };
  Reflect.defineMetadata(CONFIG, merged, handler);
  RouteConfig(merged)(handler);
}

/** For Fastify's `onRoute`: sets the limit of each route, at most `largest`. */
export function limitBody(route: RouteOptions, largest: number): void {
  route.bodyLimit = Math.min(largest, route.config?.bodyLimit ?? bodyLimits.usual);
}
