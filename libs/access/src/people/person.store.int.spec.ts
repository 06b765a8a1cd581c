import { parseEnv } from '@app/platform';
import { randomUUID } from 'node:crypto';
import { allEngines, openDatabase } from '../../../../test/support/database.js';
import { PersonStore } from './person.store.js';

const issuer = 'https://id.example.com';
const settings = {
  MCP_AGGREGATOR_LOGIN_ISSUER: issuer,
  MCP_AGGREGATOR_LOGIN_CLIENT_ID: 'switchboard',
  MCP_AGGREGATOR_PUBLIC_URL: 'https://mcp.example.com',
  MCP_AGGREGATOR_LOGIN_ROLES: 'ops=admin,*=caller',
};

describe.each(allEngines)(`${PersonStore.name} on %s`, (engine) => {
  let opened: Awaited<ReturnType<typeof openDatabase>>;

  beforeAll(async () => {
    opened = await openDatabase(engine);
  });
  beforeEach(() => opened.database.direct.query('DELETE FROM mcp.people'));
  afterAll(() => opened.close());

  const storeWith = (more: Record<string, string> = {}): PersonStore =>
    new PersonStore(opened.database, parseEnv({ ...settings, ...more }));
  const logIn = (subject: string, store = storeWith()) =>
    opened.database.transaction((tx) =>
      store.noteLogin(
        { issuer, subject, label: subject, scopes: ['call'], groups: [] },
        { id: randomUUID(), sessionHash: randomUUID() },
        tx,
      ),
    );

  it.each([
    { MCP_AGGREGATOR_LOGIN_ROLES: '*=viewer' },
    { MCP_AGGREGATOR_LOGIN_DOMAINS: 'example.com' },
    { MCP_AGGREGATOR_JWT_ROLES_CLAIM: 'roles' },
    { MCP_AGGREGATOR_JWT_GROUPS_CLAIM: 'teams' },
    { MCP_AGGREGATOR_LOGIN_ISSUER: 'https://other.example.com' },
  ])('asks people to log in again after a change of %j, as the same account', async (change) => {
    const person = await logIn('ada');
    expect(await storeWith().alive()).toEqual([person]);
    expect(await storeWith(change).alive()).toEqual([]);
    expect(await logIn('ada')).toMatchObject({ id: person.id, sessionHash: person.sessionHash });
    expect(await storeWith().alive()).toMatchObject([{ id: person.id }]);
  });

  it('has a mark that differs after a login, a change and the end of an account', async () => {
    const store = storeWith();
    const mark = async (): Promise<unknown> =>
      (await opened.database.direct.query<{ mark: unknown }[]>(`SELECT (${store.mark}) AS mark`))[0]
        ?.mark;
    const change = (sql: string): Promise<unknown> => opened.database.direct.query(sql);
    const marks = [await mark()];
    await logIn('ada', store);
    marks.push(await mark());
    await change(`UPDATE mcp.people SET scopes = '{read}'`);
    marks.push(await mark());
    expect(await mark()).toBe(marks.at(-1));
    await change('UPDATE mcp.people SET ends_at = now()');
    expect(new Set(marks).size).toBe(3);
    expect(await mark()).toBe(marks[0]);
  });

  it('names those who have no account any more, unless JWTs alone are accepted', async () => {
    const { id } = await logIn('ada');
    const store = storeWith();
    const subjects = [`jwt:${issuer} ada`, `jwt:${issuer} bo`, 'jwt:https://other.example.com bo'];
    expect(await store.withoutAccount(subjects)).toEqual([`jwt:${issuer} bo`]);
    await opened.database.transaction((tx) => store.deleteById(id, tx));
    expect(await store.withoutAccount(subjects)).toEqual(subjects.slice(0, 2));
    const jwts = {
      MCP_AGGREGATOR_JWKS_URL: 'https://id.example.com/keys',
      MCP_AGGREGATOR_JWT_ISSUER: issuer,
      MCP_AGGREGATOR_JWT_AUDIENCE: 'switchboard',
    };
    expect(storeWith(jwts).accountPrefix).toBeUndefined();
    expect(await storeWith(jwts).withoutAccount(subjects)).toEqual([]);
  });

  it('counts fewer days from the last login, and more days from the next one', async () => {
    const { endsAt } = await logIn('ada');
    await opened.database.direct.query(
      `UPDATE mcp.people SET last_login_at = last_login_at - interval '3 days'`,
    );
    const [sooner] = await storeWith({ MCP_AGGREGATOR_LOGIN_DAYS: '5' }).alive();
    expect((endsAt.getTime() - (sooner?.endsAt.getTime() ?? 0)) / 86_400_000).toBeCloseTo(28, 1);
    expect(await storeWith({ MCP_AGGREGATOR_LOGIN_DAYS: '2' }).alive()).toEqual([]);
    expect(await storeWith({ MCP_AGGREGATOR_LOGIN_DAYS: '300' }).alive()).toMatchObject([
      { endsAt },
    ]);
  });
});
