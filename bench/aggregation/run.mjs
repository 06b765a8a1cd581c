// npm run bench:aggregation -- [--data ../shared/eval/xquad.en.json] [--only speed,quality,load]
import { existsSync, readFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { parseArgs } from 'node:util';
import { StaticModel } from '../../dist/libs/vectors/src/static-model.js';
import { measureLatency } from './latency.mjs';
import { measureLoad } from './load.mjs';
import { measureQuality } from './quality.mjs';

const { values: options } = parseArgs({
  options: {
    data: {
      type: 'string',
      default: `${process.env.EVAL_DIR ?? '../shared/eval'}/xquad.en.json`,
    },
    only: { type: 'string', default: 'speed,quality,load' },
    queries: { type: 'string', default: '1000' },
  },
});
const wanted = options.only.split(',');
console.log(`Node ${process.version}, ${cpus()[0].model}, ${cpus().length} cores`);

const model = StaticModel.load();
const embed = (text) => model.embed(text);
const texts = existsSync(options.data) ? JSON.parse(readFileSync(options.data, 'utf8')) : undefined;
if (!texts) console.log(`${options.data} is not there: speed and quality are not measured`);

if (texts && wanted.includes('speed')) {
  console.log('\nScore, deduplicate, order and cut passages of 1 to 4 kB');
  console.table([measureLatency(texts, embed, 100, 50), measureLatency(texts, embed, 1_000, 20)]);
}
if (texts && wanted.includes('quality')) {
  console.log('\nXQuAD questions to six servers that share its paragraphs');
  console.table(measureQuality(texts, embed));
}
if (wanted.includes('load')) {
  console.log(
    '\nTen servers: six answer, one hangs, one is dead, one sends 20 MB, one reports errors',
  );
  console.table(await measureLoad({ queries: Number(options.queries), concurrency: 50 }));
}
