import { mkdir } from 'node:fs/promises';
import { DataSource } from 'typeorm';
import { allEngines } from '../../../../test/support/database.js';
import { temporaryFolder, testEnv } from '../../../../test/support/env.js';
import { createDatabase } from '../../../../test/support/postgres.js';
import { schemaOf } from '../../../../test/support/schema.js';
import { migrations } from '../../../../migrations/index.js';
import { dataSourceOptions } from './database.module.js';
import { EmbeddedDatabase, embeddedFolder } from './embedded-database.js';
import { migrate, revertLast } from './migrations.js';

describe.each(allEngines)('migrations on %s', (engine) => {
  const embedded = new EmbeddedDatabase();
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  let dataSource: DataSource;

  beforeAll(async () => {
    folder = await temporaryFolder();
    // Given an existing folder, the migrated template of the build is not copied.
    await mkdir(embeddedFolder(folder.path));
    const overrides: Record<string, string> =
      engine === 'PGlite'
        ? {}
        : {
            DATABASE_URL: await createDatabase({ version: engine }),
            MCP_CREDENTIAL_KEY: 'a-key-for-this-test-only',
          };
    dataSource = await new DataSource(
      dataSourceOptions(testEnv(folder.path, overrides), embedded, migrations),
    ).initialize();
    // Without the template PGlite initializes a cluster.
  });

  afterAll(async () => {
    await dataSource.destroy();
    await embedded.close();
    await folder.remove();
  });

  const schema = (): Promise<string[]> => schemaOf(dataSource);

  it('each has an exact inverse, and running twice changes nothing', async () => {
    const after: string[][] = [];
    expect(await migrate(dataSource)).toHaveLength(migrations.length);
    expect(await migrate(dataSource)).toEqual([]);
    const complete = await schema();
    for (const _ of migrations) {
      after.push(await schema());
      await revertLast(dataSource);
    }
    expect(await schema()).toEqual([]);
    await migrate(dataSource);
    expect(await schema()).toEqual(complete);
    expect(after[0]).toEqual(complete);
  });

  it('of a newer version refuse this one, unless they are marked as compatible', async () => {
    await dataSource.query(
      `INSERT INTO mcp.migrations (timestamp, name) VALUES (1999999999999, 'Later1999999999999')`,
    );
    await expect(migrate(dataSource)).rejects.toThrow(
      'migrated by a newer version of Switchboard (Later1999999999999)',
    );
    await dataSource.query(
      `INSERT INTO mcp.compatible_migrations (name) VALUES ('Later1999999999999')`,
    );
    await expect(migrate(dataSource)).resolves.toEqual([]);
    await dataSource.query(`DELETE FROM mcp.migrations WHERE name = 'Later1999999999999'`);
  });

  it('wait for one another when several replicas start at once', async () => {
    await expect(Promise.all([migrate(dataSource), migrate(dataSource)])).resolves.toEqual([
      [],
      [],
    ]);
  });
});
