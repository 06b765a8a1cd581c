import { openDatabase } from '../../../../test/support/database.js';
import { eventually } from '../../../../test/support/eventually.js';
import { AuditEntity } from './audit.entity.js';
import { type AuditEntry, AuditStore } from './audit.store.js';

const entry: AuditEntry = { event: 'grant.withdrawn', actor: { name: 'ada', ip: null } };

describe(AuditStore.name, () => {
  let opened: Awaited<ReturnType<typeof openDatabase>>;
  let store: AuditStore;
  let told: { committed: number; settle: () => void }[];
  beforeAll(async () => {
    opened = await openDatabase('PGlite', [AuditEntity]);
    store = new AuditStore(opened.database);
    store.onRecorded(async () => {
      const [row] = await opened.database.direct.query<{ entries: number }[]>(
        'SELECT count(*)::int AS entries FROM mcp.audit_log',
      );
      await new Promise<void>((settle) => told.push({ committed: row?.entries ?? 0, settle }));
    });
  });
  beforeEach(async () => {
    told = [];
    await opened.database.direct.query('TRUNCATE mcp.audit_log');
  });
  afterAll(() => opened.close());

  it.each([
    ['an entry of a change', () => opened.database.transaction((tx) => store.record(entry, tx))],
    ['an entry of its own', () => store.record(entry)],
    ['several entries', () => store.recordAll([entry])],
  ])('tells of %s once it is committed, and is done when its listeners are', async (_, write) => {
    let isDone = false;
    const writing = write().then(() => (isDone = true));
    await eventually(() => expect(told).toHaveLength(1));
    expect(told[0]?.committed).toBe(1);
    // Another round trip to the database: time enough for a write that does not wait.
    await opened.database.direct.query('SELECT 1');
    expect(isDone).toBe(false);
    told[0]?.settle();
    await writing;
    expect(isDone).toBe(true);
  });
});
