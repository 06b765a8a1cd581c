import { type CanActivate, type ExecutionContext, Injectable, SetMetadata } from '@nestjs/common';
import { ROUTE_ARGS_METADATA } from '@nestjs/common/constants.js';
import { RouteParamtypes } from '@nestjs/common/enums/route-paramtypes.enum.js';
import type { FastifyRequest } from 'fastify';
import { type FieldIssue, InvalidInput, UNKNOWN_FIELD } from '../errors/app-error.js';

type Place = 'query' | 'body';

const IGNORES_UNKNOWN = Symbol('ignores unknown query parameters');

/** For routes whose callers add parameters of their own, as OAuth allows authorization servers to (RFC 6749, 4.1.2). */
export const IgnoreUnknownQuery = (): MethodDecorator => SetMetadata(IGNORES_UNKNOWN, true);

/**
 * Refuses a query or a body where the route declares none (contract R3). What a route declares is checked by its DTO,
 * with the same error.
 */
@Injectable()
export class UnknownParameters implements CanActivate {
  private readonly undeclared = new WeakMap<object, readonly Place[]>();

  canActivate(context: ExecutionContext): boolean {
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    const issues = this.placesWithout(context).flatMap((place) => issuesIn(place, request[place]));
    if (issues.length > 0) throw new InvalidInput(issues);
    return true;
  }

  private placesWithout(context: ExecutionContext): readonly Place[] {
    const handler = context.getHandler();
    let places = this.undeclared.get(handler);
    if (!places) {
      const declared = declaredBy(context.getClass(), handler);
      places = (['query', 'body'] as const).filter((place) => !declared.has(place));
      this.undeclared.set(handler, places);
    }
    return places;
  }
}

const places: Readonly<Record<string, Place>> = {
  [RouteParamtypes.QUERY]: 'query',
  [RouteParamtypes.BODY]: 'body',
};

/** From the metadata of `@Query()` and `@Body()`, whose keys are "type:index". */
function declaredBy(controller: object, handler: { readonly name: string }): ReadonlySet<Place> {
  const args: unknown = Reflect.getMetadata(ROUTE_ARGS_METADATA, controller, handler.name);
  const types = Object.keys(args ?? {}).map((key) => places[key.split(':')[0] ?? '']);
  const declared = new Set(types.filter((place) => place !== undefined));
  return Reflect.hasMetadata(IGNORES_UNKNOWN, handler) ? declared.add('query') : declared;
}

function issuesIn(place: Place, given: unknown): readonly FieldIssue[] {
  if (given === undefined || given === null) return [];
  if (typeof given !== 'object' || Array.isArray(given)) {
    return [{ loc: [place], msg: 'Input should be a JSON object', type: 'type_error' }];
  }
  return Object.keys(given).map((name) => ({ loc: [place, name], ...UNKNOWN_FIELD }));
}
