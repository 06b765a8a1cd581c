import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { PublishOwnTools } from '@app/discovery';
import { queryToolListing } from './query-contract.js';

/** The query is found by searching, as the tools that it asks are. */
@Injectable()
export class PublishQueryToolOnStart implements OnApplicationBootstrap {
  constructor(private readonly commands: CommandBus) {}

  onApplicationBootstrap(): Promise<void> {
    return this.commands.execute(new PublishOwnTools([queryToolListing]));
  }
}
