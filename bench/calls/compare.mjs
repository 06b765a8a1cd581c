// node bench/calls/compare.mjs <checkout> [rounds]: what a call costs here and in another built checkout, side by side.
// The ratio to the floor differs from day to day and machine to machine; the ratio between two versions does not.
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { interleaved, measure, ratio } from './measure.mjs';
import { settled, startFloor, startProduct, startUpstream } from './processes.mjs';

const [checkout, rounds = '15'] = process.argv.slice(2);
if (!checkout) {
  console.error('usage: node bench/calls/compare.mjs <other built checkout> [rounds]');
  process.exit(2);
}
const processes = pathToFileURL(resolve(checkout, 'bench/calls/processes.mjs'));
const other = await import(processes.href);

const upstream = await startUpstream(10);
const servers = { up0: { url: upstream.url } };
const tool = 'up0__echo_0';
const targets = {
  floor: await startFloor('floor-http', upstream.url),
  other: await other.startProduct(servers),
  here: await startProduct(servers),
};
for (const name of Object.keys(targets)) {
  if (name !== 'floor') await settled(targets[name], 10);
  targets[name] = { ...targets[name], tool };
  await measure(targets[name], { connections: 64, calls: 20_000 });
}
const found = await interleaved(targets, { connections: 64, calls: 10_000 }, Number(rounds));
const failed = [...found.here, ...found.other].find((run) => run.errors > 0);
for (const target of [...Object.values(targets), upstream]) await target.stop();
if (failed) throw new Error(`a call failed: ${failed.firstError}`);
const show = (over, under) => ratio(found[over], found[under], 'cpu').toFixed(2);
console.log(`CPU a call, medians of ${rounds} rounds`);
console.log(`other ÷ floor: ${show('other', 'floor')}`);
console.log(`here ÷ floor: ${show('here', 'floor')}`);
console.log(`here ÷ other: ${show('here', 'other')}`);
