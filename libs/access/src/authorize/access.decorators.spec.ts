import 'reflect-metadata';
import { FASTIFY_ROUTE_CONFIG_METADATA } from '@nestjs/platform-fastify/constants.js';
import { Public, RequireScope } from './access.decorators.js';

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
