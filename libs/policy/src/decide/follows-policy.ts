import { type CanActivate, type ExecutionContext, Injectable, SetMetadata } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { principalOf } from '@app/access';
import type { FastifyRequest } from 'fastify';
import { OnlyPartGranted } from '../policy.errors.js';
import { Permissions } from './permissions.js';

const FOLLOWS_POLICY = 'follows policy';

/** The route shows and does only what is granted to its caller. */
export const FollowsPolicy = (): ClassDecorator & MethodDecorator =>
  SetMetadata(FOLLOWS_POLICY, true);

/**
 * Every other route of the REST API tells of all servers and tools, so its callers have to see all of them anyway, or
 * operate them. By default, so that a new route cannot forget the policy.
 */
@Injectable()
export class WholeViewGuard implements CanActivate {
  constructor(
    private readonly reflector: Reflector,
    private readonly permissions: Permissions,
  ) {}

  canActivate(context: ExecutionContext): boolean {
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    if (request.routeOptions.config.access === 'public') return true;
    const places = [context.getHandler(), context.getClass()];
    if (this.reflector.getAllAndOverride<boolean | undefined>(FOLLOWS_POLICY, places)) return true;
    if (!this.permissions.seesAll(principalOf(request))) throw new OnlyPartGranted();
    return true;
  }
}
