import type { Sliced } from '@app/platform';
import { createHash } from 'node:crypto';
import type { AllTools, CatalogueTool } from '../catalogue-snapshot.js';

interface Sums {
  tools: number;
  a: bigint;
  b: bigint;
}

/**
 * Digest per server of what the catalogue shows of its tools: their number and two sums over their hashes, which do not
 * depend on an order, so that rows can be read in parts and as they are on disk.
 */
export class ToolDigests {
  private readonly sums = new Map<string, Sums>();

  add(serverId: string, tools: number, a: bigint, b: bigint): void {
    const sums = this.sums.get(serverId);
    if (!sums) {
      this.sums.set(serverId, { tools, a, b });
      return;
    }
    sums.tools += tools;
    sums.a += a;
    sums.b += b;
  }

  all(): ReadonlyMap<string, string> {
    return new Map([...this.sums].map(([id, { tools, a, b }]) => [id, `${tools} ${a} ${b}`]));
  }
}

/** '' for own tools; a difference to the rows shows what to reload. */
export function* digestsOf({
  tools,
  withheld,
}: Pick<AllTools, 'tools' | 'withheld'>): Sliced<ReadonlyMap<string, string>> {
  const digests = new ToolDigests();
  for (const list of [tools, withheld.tools]) {
    for (const tool of list) {
      yield;
      const hash = createHash('md5').update(lineOf(tool)).digest();
      digests.add(tool.serverId, 1, BigInt(hash.readUInt32BE(0)), BigInt(hash.readUInt32BE(4)));
    }
  }
  return digests.all();
}

/** Must match the SQL in `ToolStore.digests`. */
function lineOf(tool: CatalogueTool): string {
  const { id, name, contentHash, withheld, isClassified, skillIds, classifiedBy } = tool;
  return [
    id,
    name,
    contentHash,
    withheld?.hash ?? '',
    isClassified ? 't' : 'f',
    skillIds.join(','),
    classifiedBy ?? '',
  ].join(' ');
}
