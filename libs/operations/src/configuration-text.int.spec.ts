import { mkdtempSync, rmSync, truncateSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { configurationText } from './configuration-text.js';

const NOW = new Date('2026-11-20T12:00:00Z');
const LONG_AGO = new Date('2026-11-20T11:00:00Z');

describe(configurationText.name, () => {
  let folder: string;
  let file: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'configuration-'));
    file = join(folder, 'servers.yaml');
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  const write = (text: string, changedAt: Date): void => {
    writeFileSync(file, text);
    utimesSync(file, changedAt, changedAt);
  };
  /** `meanwhile` happens at each wait, of which it gets the number. */
  const read = (meanwhile: (wait: number) => void = () => undefined): Promise<string> => {
    let waits = 0;
    const sleep = (): Promise<void> => {
      meanwhile(++waits);
      return Promise.resolve();
    };
    return configurationText(file, { now: () => NOW, sleep });
  };

  it('is read once if it was not changed lately', async () => {
    write('views: {a: {}}', LONG_AGO);
    await expect(read(() => write('views: {}', LONG_AGO))).resolves.toBe('{"views":{"a":{}}}');
  });

  it('is read again while it is being written', async () => {
    write('views: {a: {}}', NOW);
    const text = await read((wait) => {
      if (wait < 3) write(`views: {a: {}}\noverrides: {${'x'.repeat(wait)}: {}}`, NOW);
    });
    expect(text).toBe('{"views":{"a":{}},"overrides":{"xx":{}}}');
  });

  it('is refused if it never stays the same, or is huge', async () => {
    write('a: 0', NOW);
    await expect(read((wait) => write(`a: ${wait}`, NOW))).rejects.toThrow(/it is being written$/);
    truncateSync(file, 17 * 1_048_576);
    await expect(read()).rejects.toThrow(/it has more than 16777216 bytes$/);
  });

  it('is missed by name', async () => {
    await expect(read()).rejects.toThrow(/servers\.yaml.*there is no such file$/);
  });
});
