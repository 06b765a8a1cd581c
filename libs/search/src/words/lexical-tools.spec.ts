import type { Catalogue, CatalogueSnapshot, CatalogueTool } from '@app/catalogue';
import { CatalogueReplaced } from '@app/events';
import { catalogueTool, NONE_WITHHELD } from '../../../../test/support/catalogue.js';
import { longestBlock } from '../../../../test/support/loop-delay.js';
import { LexicalTools } from './lexical-tools.js';

const toolOf = (id: number, description: string): CatalogueTool =>
  catalogueTool({ id, name: `server.tool_${id}`, originalName: `tool_${id}`, description });

function snapshotOf(tools: readonly CatalogueTool[]): CatalogueSnapshot {
  return {
    version: 1,
    servers: new Map(),
    serversByName: new Map(),
    tools,
    toolsById: new Map(tools.map((tool) => [tool.id, tool])),
    toolsByName: new Map(),
    toolsByServer: new Map(),
    toolsByOriginalName: new Map(),
    withheld: NONE_WITHHELD,
  };
}

class FakeCatalogue implements Pick<Catalogue, 'current'> {
  current = snapshotOf([]);
  listener: (change: CatalogueReplaced) => unknown = () => undefined;

  async become(tools: readonly CatalogueTool[]): Promise<void> {
    const previous = this.current;
    this.current = snapshotOf(tools);
    const written = tools.filter((tool) => previous.toolsById.get(tool.id) !== tool);
    const removed = previous.tools.filter(({ id }) => !this.current.toolsById.has(id));
    await this.listener(
      new CatalogueReplaced(
        [],
        written.map(({ id }) => id),
        [],
        removed.map(({ id }) => id),
      ),
    );
  }
}

describe(LexicalTools, () => {
  const start = (): { catalogue: FakeCatalogue; found: (query: string) => number[] } => {
    const catalogue = new FakeCatalogue();
    const tools = new LexicalTools(catalogue as unknown as Catalogue);
    catalogue.listener = (change) => tools.follow(change);
    const found = (query: string): number[] =>
      tools.index.search(query, 10, () => true).map(({ id }) => id);
    return { catalogue, found };
  };

  it('has indexed a change of the catalogue when its listener resolves', async () => {
    const { catalogue, found } = start();
    await catalogue.become([toolOf(1, 'opens an issue'), toolOf(2, 'sends a letter')]);
    expect(found('letter')).toEqual([2]);
    await catalogue.become([toolOf(1, 'opens an issue')]);
    expect(found('letter')).toEqual([]);
  });

  it('does not block the event loop with long descriptions, of which it indexes the beginning', async () => {
    const words = Array.from({ length: 36_000 }, (_, i) => `q${i.toString(36)}w`).join(' ');
    const tools = Array.from({ length: 150 }, (_, i) => toolOf(i, `tool${i}x ${words} at the end`));
    const {
      result: { found },
      blockedMs,
    } = await longestBlock(async () => {
      const started = start();
      await started.catalogue.become(tools);
      return started;
    });
    expect(blockedMs).toBeLessThan(300);
    expect(found('tool149x')).toHaveLength(10);
    expect(found('end')).toEqual([]);
  });
});
