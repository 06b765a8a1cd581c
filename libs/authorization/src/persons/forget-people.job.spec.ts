import { PersonConnectionChanged } from '@app/events';
import { ForgetPeopleJob } from './forget-people.job.js';

const PROVIDER = 'jwt:https://id.example.com ';

function world(rows: readonly string[], known: readonly string[], unseen: readonly string[]) {
  const told: unknown[] = [];
  const audited: object[] = [];
  const job = new ForgetPeopleJob(
    {
      subjectsFrom: async (start: string) => rows.filter((one) => one.startsWith(start)),
      seen: async (_known: string[], others: string[]) =>
        others.filter((one) => unseen.includes(one)),
      deleteSubjects: async (subjects: string[]) =>
        subjects.map((subject) => ({ serverId: 'id', subject, person: subject })),
      deleteUnused: async () => undefined,
    } as never,
    { reload: async () => undefined, hasSubject: (one: string) => known.includes(one) } as never,
    {
      accountPrefix: PROVIDER,
      withoutAccount: async (subjects: string[]) => subjects.filter((one) => !known.includes(one)),
    } as never,
    { run: (work: () => unknown) => work() } as never,
    { execute: async () => ({ name: 'github' }) } as never,
    { record: async (entry: object) => audited.push(entry) } as never,
    { tell: async (event: unknown) => told.push(event) } as never,
  );
  return { job, told, audited };
}

describe(ForgetPeopleJob.name, () => {
  it('ends and audits what belonged to tokens that are gone', async () => {
    const { job, told, audited } = world(['issued:1', 'issued:2'], ['issued:2'], []);
    await job.forget();
    expect(told).toEqual([new PersonConnectionChanged('id', 'issued:1')]);
    expect(audited).toMatchObject([
      { event: 'connection.ended', server: { name: 'github' }, details: { subject: 'issued:1' } },
    ]);
  });

  it('ends and audits what belonged to people whose account at the provider of logins ended', async () => {
    const rows = [`${PROVIDER}ada`, `${PROVIDER}bo`, 'jwt:https://other.example.com ada'];
    const { job, told } = world(rows, [`${PROVIDER}bo`], []);
    await job.forget();
    expect(told).toEqual([new PersonConnectionChanged('id', `${PROVIDER}ada`)]);
  });

  it('forgets configured tokens only when no token has had their name for a day', async () => {
    const rows = ['token:ada', 'token:bob', 'token:eve'];
    const { job, told } = world(rows, ['token:ada'], ['token:ada', 'token:bob']);
    await job.forget();
    expect(told).toEqual([new PersonConnectionChanged('id', 'token:bob')]);
  });
});
