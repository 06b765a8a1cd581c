import { Injectable, type OnModuleInit } from '@nestjs/common';
import { DiscoveryService } from '@nestjs/core';

/** Where `@EventsHandler` of @nestjs/cqrs stores the events of a class. */
const EVENTS = '__eventsHandler__';

/** Which listener threw an error: the bus of @nestjs/cqrs reports only the event, which may have several listeners. */
@Injectable()
export class ListenerNames implements OnModuleInit {
  private readonly names = new WeakMap<object, string>();

  constructor(private readonly discovery: DiscoveryService) {}

  onModuleInit(): void {
    for (const { instance, metatype } of this.discovery.getProviders()) {
      if (typeof metatype !== 'function' || !Reflect.hasMetadata(EVENTS, metatype)) continue;
      if (isListener(instance)) this.watch(instance, metatype.name);
    }
  }

  of(error: unknown): string | undefined {
    return typeof error === 'object' && error !== null ? this.names.get(error) : undefined;
  }

  private watch(listener: Listener, name: string): void {
    const handle = listener.handle.bind(listener);
    listener.handle = async (event) => {
      try {
        return await handle(event);
      } catch (error) {
        if (typeof error === 'object' && error !== null) this.names.set(error, name);
        throw error;
      }
    };
  }
}

interface Listener {
  handle(event: unknown): unknown;
}

function isListener(instance: unknown): instance is Listener {
  return (
    typeof instance === 'object' &&
    instance !== null &&
    'handle' in instance &&
    typeof instance.handle === 'function'
  );
}
