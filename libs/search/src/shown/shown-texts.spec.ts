import type { CatalogueSnapshot, CatalogueTool } from '@app/catalogue';
import { catalogueTool } from '../../../../test/support/catalogue.js';
import { LexicalIndex } from '../words/lexical-index.js';
import { toDocument } from '../words/lexical-tools.js';
import { bestOf, ShownTexts } from './shown-texts.js';

const all = (): boolean => true;
const tool = (id: number, name: string, description: string): CatalogueTool =>
  catalogueTool({ id, name: `server.${name}`, originalName: name, description });
const shownAs = (one: CatalogueTool, name: string, description: string): CatalogueTool => ({
  ...one,
  name,
  description,
  offeredAs: { name, hiddenArguments: [], presetArguments: {}, budgetTokens: null },
});
const partOf = (...tools: CatalogueTool[]) =>
  ({ isPart: true, tools }) as unknown as CatalogueSnapshot;

const find = tool(1, 'find_items', 'Finds items');
const send = tool(2, 'send_letter', 'Sends a letter about the stock');
const others = Array.from({ length: 50 }, (_, i) => tool(i + 3, `other_${i}`, 'Does something'));
const shown = shownAs(find, 'search_stock', 'Searches the warehouse');

function start() {
  const index = new LexicalIndex();
  index.update([find, send, ...others].map(toDocument), []);
  const model = { id: 'static', embed: () => undefined };
  const texts = new ShownTexts({ index } as never, { modelId: 'another' } as never, model as never);
  return { index, texts };
}

describe(ShownTexts.name, () => {
  it('finds a tool by the words that a view shows, with scores that compare with those of other tools', async () => {
    const { index, texts } = start();
    const compiled = await texts.of({}, partOf(shown, send));
    const found = (query: string): number[] =>
      bestOf(index.search(query, 10, all), compiled?.words.search(query, 10, all) ?? []).map(
        ({ id }) => id,
      );
    expect(found('warehouse')).toEqual([1]);
    // In the name it weighs more than in the description of the other.
    expect(found('stock')).toEqual([1, 2]);
    expect(found('letter')).toEqual([2]);
    expect(found('find items')).toEqual([1]);
  });

  it('compiles the texts of a view once, until one of them changes', async () => {
    const { texts } = start();
    const view = {};
    const first = await texts.of(view, partOf(shown, send));
    expect(await texts.of(view, partOf(shown, send, ...others))).toBe(first);
    const renamed = shownAs(find, 'look_up', 'Searches the warehouse');
    const second = await texts.of(view, partOf(renamed, send));
    expect(second).not.toBe(first);
    expect(second?.words.search('stock', 10, all)).toEqual([]);
  });

  it('has nothing for a view that shows tools as their servers define them', async () => {
    const { texts } = start();
    expect(await texts.of({}, partOf(find, send))).toBeUndefined();
    const whole = { tools: [shown] } as unknown as CatalogueSnapshot;
    expect(await texts.of({}, whole)).toBeUndefined();
  });
});
