import { Injectable } from '@nestjs/common';
import { Catalogue, type CatalogueTool, wordsOf } from '@app/catalogue';
import type { CatalogueReplaced } from '@app/events';
import { inSlices } from '@app/platform';
import { type LexicalDocument, LexicalIndex } from './lexical-index.js';

/** The lexical index of the catalogue, updated incrementally. */
@Injectable()
export class LexicalTools {
  readonly index = new LexicalIndex();
  /** Serialises updates, because they run in slices. */
  private last: Promise<void> = Promise.resolve();

  constructor(private readonly catalogue: Catalogue) {}

  follow({ written, removed }: CatalogueReplaced): Promise<void> | undefined {
    if (written.length + removed.length === 0) return undefined;
    const update = this.last.then(() => this.update(written, removed));
    this.last = update.catch(() => undefined);
    return update;
  }

  private async update(written: readonly number[], removed: readonly number[]): Promise<void> {
    const { toolsById } = this.catalogue.current;
    const documents = written.flatMap((id) => {
      const tool = toolsById.get(id);
      return tool ? [toDocument(tool)] : []; // removed in the meantime
    });
    await inSlices(this.index.updating(documents, removed));
  }
}

export function toDocument(tool: CatalogueTool): LexicalDocument {
  const { server, name, description, parameters, parameterDescriptions } = wordsOf(tool);
  return {
    id: tool.id,
    name,
    server,
    description,
    parameters: [...parameters, ...parameterDescriptions].join(' '),
  };
}
