// node bench/calls/check.mjs: fails when a call costs too much processor time, relative to the floor in the same
// rounds, so that a slow or busy machine affects both sides alike.
import { interleaved, measure, ratio } from './measure.mjs';
import { settled, startFloor, startProduct, startUpstream } from './processes.mjs';

/**
 * With authentication, metrics and audit. The same code measures 1.4 on one day and 1.9 on another, so this finds only
 * what costs much; one needless event per call adds more than 0.4. `compare.mjs` finds less, beside an older checkout.
 */
const BOUND = 2.2;
const ROUNDS = 7;
const ROUNDS_WHEN_IN_DOUBT = 15;

const upstream = await startUpstream(10);
const floor = await startFloor('floor-http', upstream.url);
const product = await startProduct({ up0: { url: upstream.url } });
await settled(product, 10);
const tool = 'up0__echo_0';
const targets = { floor: { ...floor, tool }, product: { ...product, tool } };
for (const target of Object.values(targets)) {
  await measure(target, { connections: 64, calls: 20_000 });
}
let share = await measuredIn(ROUNDS);
if (share > BOUND) share = await measuredIn(ROUNDS_WHEN_IN_DOUBT);
for (const each of [product, floor, upstream]) await each.stop();
process.exit(share > BOUND ? 1 : 0);

async function measuredIn(rounds) {
  const found = await interleaved(targets, { connections: 64, calls: 10_000 }, rounds);
  const failed = found.product.find((run) => run.errors > 0);
  if (failed) throw new Error(`a call failed: ${failed.firstError}`);
  const median = ratio(found.product, found.floor, 'cpu');
  console.log(
    `CPU a call, service ÷ floor: ${median.toFixed(2)} (median of ${rounds} rounds; at most ${BOUND})`,
  );
  return median;
}
