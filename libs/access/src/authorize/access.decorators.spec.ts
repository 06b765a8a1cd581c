import 'reflect-metadata';
import { FASTIFY_ROUTE_CONFIG_METADATA } from '@nestjs/platform-fastify/constants.js';
import type { FastifyRequest } from 'fastify';
import { actorOf, callerMay, Public, RequireScope } from './access.decorators.js';

@RequireScope('read')
class Example {
  list(): void {}

  @RequireScope('admin')
  remove(): void {}

  @Public()
  health(): void {}
}

class Unmarked {
  list(): void {}
}

const ruleOf = (controller: { prototype: object }, method: string): unknown =>
  Reflect.getMetadata(FASTIFY_ROUTE_CONFIG_METADATA, Reflect.get(controller.prototype, method));

describe('an access rule', () => {
  it('of a class applies to its routes without a rule of their own', () => {
    expect(ruleOf(Example, 'list')).toEqual({ access: 'read' });
    expect(ruleOf(Example, 'remove')).toEqual({ access: 'admin' });
    expect(ruleOf(Example, 'health')).toEqual({ access: 'public' });
  });

  it('is undefined without a decorator', () => {
    expect(ruleOf(Unmarked, 'list')).toBeUndefined();
  });
});

describe('the caller of a request', () => {
  const request = (principal?: object) =>
    ({ principal, ip: '192.0.2.1', socket: {} }) as unknown as FastifyRequest;

  it('may do what its scopes include', () => {
    const reader = request({ name: 'ci', scopes: ['read'], subjects: [] });
    expect([callerMay('read', reader), callerMay('call', reader)]).toEqual([true, false]);
    expect(callerMay('read', request())).toBe(false);
  });

  it('is named in the audit log with its address', () => {
    expect(actorOf(request({ name: 'ci', scopes: [], subjects: [] }))).toEqual({
      name: 'ci',
      ip: '192.0.2.1',
    });
    expect(actorOf(request())).toEqual({ name: 'anonymous', ip: '192.0.2.1' });
  });
});
