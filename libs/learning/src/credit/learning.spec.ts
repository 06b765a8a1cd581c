import { Logger } from '@nestjs/common';
import { DatabaseUnavailable } from '@app/platform';
import { eventually } from '../../../../test/support/eventually.js';
import { FakeClock } from '../../../../test/support/fake-clock.js';
import type { CallerUses } from '../rows/tool-use.store.js';
import { Learning } from './learning.js';
import { RecentSearches } from './recent-searches.js';

const VIEW = 'view';
const caller = { name: 'ada', subject: 'token:ada' };
const [SEND_EMAIL, WEATHER] = [1, 2];
const weather = Float32Array.of(1, 0);
const email = Float32Array.of(0, 1);

function start() {
  const clock = new FakeClock();
  const stored: CallerUses[] = [];
  const database = { isGone: false };
  const add = async (_model: string, uses: readonly CallerUses[]): Promise<void> => {
    await Promise.resolve();
    if (database.isGone) throw new DatabaseUnavailable('unreachable');
    stored.push(...uses);
  };
  const learning = new Learning(
    new RecentSearches(clock),
    { add } as never,
    { load: async () => undefined } as never,
    { id: 'static' } as never,
    { tell: async () => undefined } as never,
    clock,
    { MCP_AGGREGATOR_SEARCH_LEARNING: true } as never,
  );
  const search = (vector: Float32Array, tools: readonly number[], session?: object) =>
    learning.noteSearch({ caller, viewId: VIEW, vector, tools, session });
  const call = (toolId: number, session?: object, searchId?: string): void =>
    learning.noteCall({ caller, toolId, session, searchId });
  return { learning, stored, database, search, call };
}

describe(Learning, () => {
  beforeAll(() => Logger.overrideLogger(false));

  it('credits a tool that is called again to no search before the one that it follows', async () => {
    const { learning, stored, search, call } = start();
    const session = {};
    search(weather, [WEATHER, SEND_EMAIL], session);
    search(email, [SEND_EMAIL], session);
    call(SEND_EMAIL, session);
    call(SEND_EMAIL, session);
    await learning.flush();
    expect(stored).toMatchObject([{ toolId: SEND_EMAIL, uses: { count: 1, mean: email } }]);
  });

  it('credits a tool once for a search that a call names', async () => {
    const { learning, stored, search, call } = start();
    const id = search(weather, [WEATHER]);
    call(WEATHER, undefined, id);
    call(WEATHER, undefined, id);
    call(SEND_EMAIL, undefined, id);
    await learning.flush();
    expect(stored).toMatchObject([{ toolId: WEATHER, uses: { count: 1 } }]);
  });

  it('stores later what could not be stored, but for tools that were forgotten meanwhile', async () => {
    const { learning, stored, database, search, call } = start();
    const id = search(weather, [WEATHER, SEND_EMAIL]);
    call(WEATHER, undefined, id);
    call(SEND_EMAIL, undefined, id);
    database.isGone = true;
    const flushing = learning.flush();
    learning.forgetTool(SEND_EMAIL);
    await flushing;
    expect(stored).toEqual([]);
    database.isGone = false;
    await eventually(() => expect(stored).toMatchObject([{ toolId: WEATHER }]));
  });
});
