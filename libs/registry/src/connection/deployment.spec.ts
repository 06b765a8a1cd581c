import type { SettingsStore } from '@app/platform';
import { Deployment } from './deployment.js';

class FakeSettings implements Pick<SettingsStore, 'get' | 'insertIfAbsent'> {
  private readonly rows = new Map<string, object>();

  get(key: string): Promise<unknown> {
    return Promise.resolve(this.rows.get(key));
  }
  insertIfAbsent(key: string, value: object): Promise<void> {
    if (!this.rows.has(key)) this.rows.set(key, value);
    return Promise.resolve();
  }
}

async function started(settings: FakeSettings): Promise<Deployment> {
  const deployment = new Deployment(settings as unknown as SettingsStore);
  await deployment.onModuleInit();
  return deployment;
}

describe(Deployment.name, () => {
  it('has one id for all replicas on one database, also after a restart', async () => {
    const settings = new FakeSettings();
    const [a, b] = await Promise.all([started(settings), started(settings)]);
    expect(a.id).toBe(b.id);
    expect((await started(settings)).id).toBe(a.id);
  });

  it('has another id on another database', async () => {
    expect((await started(new FakeSettings())).id).not.toBe((await started(new FakeSettings())).id);
  });
});
