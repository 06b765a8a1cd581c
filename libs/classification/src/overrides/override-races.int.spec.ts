import { SYSTEM } from '@app/access';
import { Database } from '@app/platform';
import { CommandBus } from '@nestjs/cqrs';
import { startApp, stopIntervals, type TestApp } from '../../../../test/support/app.js';
import { createDatabase } from '../../../../test/support/postgres.js';
import { insertTools, ROWS_ONLY } from '../../../../test/support/rows.js';
import { ClassificationQueue, type ClaimedTool } from '../classify/classification-queue.store.js';
import { ClassificationWorker } from '../classify/classification-worker.js';
import { DropOverride } from './drop-override.command.js';
import { OverrideStore } from './override.store.js';
import { OverrideToolSkills } from './override-tool-skills.command.js';

const ROUNDS = 10;
const TOOLS = 5;
const BY_HAND = [{ skillId: 'finance', confidence: 1 }];

interface Row {
  readonly id: number;
  readonly skill: string | null;
  readonly isClassified: boolean;
  readonly isOverride: boolean;
  readonly by: string | null;
  readonly isDue: boolean;
}

const tools = Array.from({ length: TOOLS }, (_, i) => ({
  name: `forecast_${i}`,
  description: 'Weather forecast for a city, with temperature and rain',
}));

describe.each([
  ['PostgreSQL', {}, 2],
  ['PGlite', { DATABASE_URL: '' }, 1],
])('overrides beside classification on %s', (_, settings, replicas) => {
  let services: TestApp[];
  let ids: number[];

  beforeAll(async () => {
    const shared = replicas > 1 ? { DATABASE_URL: await createDatabase() } : settings;
    services = [];
    for (let i = 0; i < replicas; i++) services.push(await startApp({ ...ROWS_ONLY, ...shared }));
    // The tests are told by themselves when tools are due.
    for (const service of services) stopIntervals(service);
    ids = await insertTools(one().app, 'weather', tools);
  });
  afterAll(async () => {
    for (const service of services) await service.close();
  });
  beforeEach(async () => {
    await classifyAll();
    for (const id of ids) await drop(id);
    await classifyAll();
  });

  const one = (i = 0): TestApp => services[i % services.length] as TestApp;
  const get = <T>(type: new (...args: never[]) => T, i = 0): T =>
    one(i).app.get<T>(type, { strict: false });
  const query = <T>(sql: string, values: unknown[] = []): Promise<T[]> =>
    get(Database).direct.query(sql, values);
  const classifyAll = (): Promise<unknown> =>
    Promise.all(services.map((_service, i) => get(ClassificationWorker, i).request()));
  const override = (id: number, skill: string, i = 0): Promise<void> =>
    get(CommandBus, i).execute(new OverrideToolSkills(id, [skill], SYSTEM));
  const drop = (id: number, i = 0): Promise<void> =>
    get(CommandBus, i).execute(new DropOverride(id, SYSTEM));
  const requeue = (): Promise<void> =>
    get(Database).transaction((tx) => get(ClassificationQueue).requeueAll(tx));
  const rows = (): Promise<Row[]> =>
    query(
      `SELECT t.id, t.primary_skill_id AS skill, t.is_classified AS "isClassified",
              c.is_override AS "isOverride", c.classified_by AS by, c.due_at IS NOT NULL AS "isDue"
       FROM mcp.tools t JOIN mcp.tool_classifications c ON c.tool_id = t.id
       WHERE t.is_external ORDER BY t.id`,
    );
  /** The results that a classifier would store for these claims. */
  const settle = (claimed: readonly ClaimedTool[]): Promise<number[]> =>
    get(ClassificationQueue).settle(
      claimed.map((tool) => ({
        tool,
        assignments: [{ skillId: 'media', confidence: 0.9 }],
        unsure: [],
      })),
      'fake',
    );
  const claimAll = async (): Promise<ClaimedTool[]> => {
    for (;;) {
      await requeue();
      const claimed = await get(ClassificationQueue).claim(1_000);
      // A run in the background may have claimed some before.
      if (ids.every((id) => claimed.some((tool) => tool.id === id))) return claimed;
    }
  };
  const byHand = (id: number, skill: string) => ({
    id,
    skill,
    isClassified: true,
    isOverride: true,
    by: 'human:system',
    isDue: false,
  });

  it('loses none of many that are set while all tools are classified again', async () => {
    const skills = ['finance', 'media', 'crm_marketing'];
    for (let round = 0; round < ROUNDS; round++) {
      const chosen = ids.map((_id, i) => skills[(round + i) % skills.length] ?? '');
      await requeue();
      await Promise.all([
        classifyAll(),
        ...ids.map((id, i) => override(id, chosen[i] ?? '', i + round)),
        requeue(),
      ]);
      await classifyAll();
      expect(await rows()).toEqual(ids.map((id, i) => byHand(id, chosen[i] ?? '')));
      await Promise.all([...ids.map((id, i) => drop(id, i)), classifyAll()]);
    }
  });

  it('classifies every tool whose override was dropped meanwhile', async () => {
    for (const id of ids) await override(id, 'finance');
    await Promise.all([...ids.map((id, i) => drop(id, i)), requeue(), classifyAll()]);
    await classifyAll();
    for (const row of await rows()) {
      expect(row).toMatchObject({ skill: 'weather_env', isOverride: false, isDue: false });
    }
  });

  it('keeps the later of an override and its withdrawal by another replica', async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const id = ids[round % TOOLS] ?? 0;
      await Promise.all([override(id, 'finance'), drop(id, 1), classifyAll()]);
      await override(id, 'media', round);
      await classifyAll();
      expect((await rows()).find((row) => row.id === id)).toEqual(byHand(id, 'media'));
    }
  });

  it('stores no result of a claim after an override, or after its withdrawal', async () => {
    const claimed = await claimAll();
    for (const id of ids) await override(id, 'finance');
    expect((await settle(claimed)).filter((id) => ids.includes(id))).toEqual([]);
    expect(await rows()).toEqual(ids.map((id) => byHand(id, 'finance')));
    await drop(ids[0] ?? 0);
    const late = claimed.filter(({ id }) => id === ids[0]);
    expect(await settle(late)).toEqual([]);
    await classifyAll();
    expect((await rows())[0]).toMatchObject({ skill: 'weather_env', isOverride: false });
  });

  it('stores the results of a claim for the tools that were not overridden', async () => {
    const claimed = await claimAll();
    const [overridden = 0, ...others] = ids;
    await override(overridden, 'finance');
    const settled = await settle(claimed);
    expect(settled.filter((id) => ids.includes(id)).toSorted((a, b) => a - b)).toEqual(others);
    const [first, ...rest] = await rows();
    expect(first).toEqual(byHand(overridden, 'finance'));
    expect(rest.map(({ id, skill, by }) => [id, skill, by])).toEqual(
      others.map((id) => [id, 'media', 'fake']),
    );
  });

  it('stores no result for a tool with another content than was claimed', async () => {
    const claimed = await claimAll();
    const [changed = 0, ...others] = ids;
    await query(`UPDATE mcp.tools SET content_hash = 'another' WHERE id = $1`, [changed]);
    const settled = await settle(claimed);
    expect(settled.filter((id) => ids.includes(id)).toSorted((a, b) => a - b)).toEqual(others);
    expect((await rows())[0]).toMatchObject({ skill: 'weather_env', isDue: true });
    await classifyAll();
    expect((await rows())[0]).toMatchObject({ skill: 'weather_env', isDue: false });
  });

  it('makes tools due although one of them was removed meanwhile', async () => {
    const [gone = 0] = await insertTools(one().app, 'short-lived', [
      { name: 'gone', description: 'Weather forecast' },
    ]);
    await classifyAll();
    // The catalogue shows it until it compares itself with the rows.
    await query('DELETE FROM mcp.tools WHERE id = $1', [gone]);
    await query('DELETE FROM mcp.tool_classifications WHERE tool_id = $1', [ids[0]]);
    await get(ClassificationQueue).enqueue([gone, ...ids]);
    expect((await rows()).map(({ id, isDue }) => [id, isDue])).toEqual(
      ids.map((id) => [id, id === ids[0]]),
    );
  });

  it('waits for an override that is not committed yet', async () => {
    const claimed = await claimAll();
    let settled: Promise<number[]> | undefined;
    await get(Database).transaction(async (tx) => {
      for (const id of ids) await get(OverrideStore).set(id, BY_HAND, 'system', tx);
      settled = settle(claimed);
    });
    expect((await settled)?.filter((id) => ids.includes(id))).toEqual([]);
    expect(await rows()).toEqual(ids.map((id) => byHand(id, 'finance')));
  });

  it('classifies again a tool that was made due while it was classified', async () => {
    const claimed = await claimAll();
    await query(`UPDATE mcp.tool_classifications SET classified_by = 'before'`);
    await requeue();
    expect(await settle(claimed)).toEqual([]);
    await get(ClassificationQueue).postpone(claimed, 'no verdict');
    await classifyAll();
    for (const row of await rows()) {
      expect(row).toMatchObject({ skill: 'weather_env', isClassified: true, isDue: false });
      expect(row.by).toMatch(/^local:/);
    }
  });
});
