import { readFile } from 'node:fs/promises';
import { product } from './product.js';

it('introduces itself as what package.json says', async () => {
  const text = await readFile(new URL('../../../package.json', import.meta.url), 'utf8');
  expect(JSON.parse(text)).toMatchObject(product);
});
