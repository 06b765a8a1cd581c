// node libs/platform/json/build.mjs: writes scan.wasm, which is committed; a test compares the two.
import { readFileSync, writeFileSync } from 'node:fs';
import openWabt from 'wabt';

export async function assemble() {
  const wabt = await openWabt();
  const source = readFileSync(new URL('scan.wat', import.meta.url), 'utf8');
  const parsed = wabt.parseWat('scan.wat', source, { simd: true });
  return parsed.toBinary({}).buffer;
}

if (process.argv[1] === new URL(import.meta.url).pathname) {
  writeFileSync(new URL('scan.wasm', import.meta.url), await assemble());
}
