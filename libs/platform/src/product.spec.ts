import { readFile } from 'node:fs/promises';
import { product } from './product.js';

const read = (file: string): Promise<string> =>
  readFile(new URL(`../../../${file}`, import.meta.url), 'utf8');

it.each(['package.json', 'package-lock.json'])('has the name and version of %s', async (file) => {
  expect(JSON.parse(await read(file))).toMatchObject(product);
});

it('has the version of the latest release in the changelog', async () => {
  const [, latest] = /^## \[(\d.*?)\]/m.exec(await read('CHANGELOG.md')) ?? [];
  expect(latest).toBe(product.version);
});
