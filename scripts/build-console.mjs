// A step of `npm run build`: writes the pages of apps/console to dist/console, each file also compressed. The output is
// kept by a hash of everything that it is made from, so that a build without changes there only copies it.
import { createHash, randomUUID } from 'node:crypto';
import { cp, mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';

const page = 'apps/console';
const target = 'dist/console';
const cache = 'node_modules/.cache/switchboard-console';
const inputs = [page, 'libs/api-client/src', 'package-lock.json', 'tsconfig.json'];
/** Outputs of other branches are kept, but not for ever. */
const MAX_KEPT = 5;
/** Smaller files are sent as fast as they are. */
const MIN_BYTES = 1_024;
const TEXT = /\.(?:js|mjs|css|html|svg|json|map|txt|webmanifest)$/;

const kept = join(cache, await hashOfInputs());
if (!(await exists(kept))) await build(kept);
await rm(target, { recursive: true, force: true });
await cp(kept, target, { recursive: true, preserveTimestamps: true });

async function hashOfInputs() {
  const files = [import.meta.filename];
  for (const input of inputs) files.push(...(await filesIn(input)));
  const hash = createHash('sha256');
  for (const file of files) {
    const name = file === import.meta.filename ? '' : file.split(sep).join('/');
    const content = createHash('sha256').update(await readFile(file));
    hash.update(`${name}\0${content.digest('hex')}\n`);
  }
  return hash.digest('hex').slice(0, 32);
}

/** Sorted; none for a path that does not exist. */
async function filesIn(path) {
  if (!(await exists(path))) return [];
  if (!(await stat(path)).isDirectory()) return [path];
  const entries = await readdir(path, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((file) => !relative(path, file).split(sep).includes('node_modules'))
    .sort();
}

/** Complete or not at all: the folder gets its name last. */
async function build(folder) {
  process.env.NODE_ENV = 'production';
  const vite = await import('vite');
  const draft = join(cache, `draft-${randomUUID()}`);
  try {
    await mkdir(draft, { recursive: true });
    await vite.build({
      configFile: join(process.cwd(), page, 'vite.config.mjs'),
      logLevel: 'warn',
      build: { outDir: join(process.cwd(), draft), emptyOutDir: true },
    });
    await Promise.all((await filesIn(draft)).map(compress));
    await rename(draft, folder).catch(async (error) => {
      // Another build of the same was faster.
      if (!(await exists(folder))) throw error;
    });
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
  await forgetOldest();
  console.log('built the console');
}

async function compress(file) {
  const content = TEXT.test(file) ? await readFile(file) : Buffer.alloc(0);
  if (content.length < MIN_BYTES) return;
  const params = {
    [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY,
    [constants.BROTLI_PARAM_SIZE_HINT]: content.length,
  };
  await writeFile(`${file}.br`, await promisify(brotliCompress)(content, { params }));
  await writeFile(`${file}.gz`, await promisify(gzip)(content, { level: 9 }));
}

async function forgetOldest() {
  const folders = await Promise.all(
    (await readdir(cache)).map(async (name) => {
      const path = join(cache, name);
      return { path, at: (await stat(path)).mtimeMs };
    }),
  );
  const oldest = folders.sort((a, b) => b.at - a.at).slice(MAX_KEPT);
  await Promise.all(oldest.map(({ path }) => rm(path, { recursive: true, force: true })));
}

async function exists(path) {
  return (await stat(path).catch(() => undefined)) !== undefined;
}
