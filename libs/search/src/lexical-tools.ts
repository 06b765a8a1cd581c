import { Injectable, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import {
  Catalogue,
  type CatalogueSnapshot,
  type CatalogueTool,
  parameterDescriptions,
  parameterNames,
} from '@app/discovery';
import { type LexicalDocument, LexicalIndex } from './lexical-index.js';

/** The lexical index of the catalogue's tools, changed by as much as the catalogue changes. */
@Injectable()
export class LexicalTools implements OnModuleInit, OnModuleDestroy {
  readonly index = new LexicalIndex();
  private unsubscribe: (() => void) | undefined;

  constructor(private readonly catalogue: Catalogue) {}

  onModuleInit(): void {
    this.index.update(this.catalogue.current.tools.map(toDocument), []);
    this.unsubscribe = this.catalogue.subscribe((next, previous) => this.follow(next, previous));
  }

  onModuleDestroy(): void {
    this.unsubscribe?.();
  }

  private follow(next: CatalogueSnapshot, previous: CatalogueSnapshot): void {
    if (next.toolsById === previous.toolsById) return;
    const removed = previous.tools.filter((tool) => !next.toolsById.has(tool.id));
    const changed = next.tools.filter((tool) =>
      readsOtherwise(tool, previous.toolsById.get(tool.id)),
    );
    this.index.update(
      changed.map(toDocument),
      removed.map((tool) => tool.id),
    );
  }
}

function readsOtherwise(tool: CatalogueTool, before: CatalogueTool | undefined): boolean {
  return tool !== before && (tool.contentHash !== before?.contentHash || tool.name !== before.name);
}

function toDocument(tool: CatalogueTool): LexicalDocument {
  return {
    id: tool.id,
    name: tool.originalName,
    server: tool.serverName,
    description: tool.title ? `${tool.title}. ${tool.description}` : tool.description,
    parameters: [
      ...parameterNames(tool.inputSchema),
      ...parameterDescriptions(tool.inputSchema),
    ].join(' '),
  };
}
