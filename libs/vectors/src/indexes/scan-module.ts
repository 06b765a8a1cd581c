import { installedFolder } from '@app/platform';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';

type Scan = (vector: number, query: number, score: number, count: number, bytes: number) => void;
type Add = (row: number, sum: number, scale: number, count: number) => void;

const PAGE_BYTES = 65_536;

const exportsSchema = z.object({
  memory: z.instanceof(WebAssembly.Memory),
  scan: z.custom<Scan>((value) => typeof value === 'function'),
  add: z.custom<Add>((value) => typeof value === 'function'),
});

let compiled: WebAssembly.Module | undefined;

/** An instance of scan.wat with a memory of its own. */
export function scanModule(): z.infer<typeof exportsSchema> {
  compiled ??= new WebAssembly.Module(
    readFileSync(join(installedFolder('libs/vectors/scan', import.meta.url), 'scan.wasm')),
  );
  const { data } = exportsSchema.safeParse(new WebAssembly.Instance(compiled).exports);
  if (!data) {
    throw new Error(
      'scan.wasm does not export memory, scan and add; run node libs/vectors/scan/build.mjs',
    );
  }
  return data;
}

/** Makes room for so many bytes; false if there was. Views of the memory made before are empty afterwards. */
export function growTo(memory: WebAssembly.Memory, bytes: number): boolean {
  const missing = bytes - memory.buffer.byteLength;
  if (missing <= 0) return false;
  memory.grow(Math.ceil(missing / PAGE_BYTES));
  return true;
}
