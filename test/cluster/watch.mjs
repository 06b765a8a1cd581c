// What is seen from outside while the events happen: how long no replica led, and how long a replica showed what was so
// before a write.
import { setTimeout as sleep } from 'node:timers/promises';
import { postModern, rest } from '../faults/service.mjs';

const LOOK_EVERY_MS = 200;
const RENAME_EVERY_MS = 2_000;
const SHOWN_WITHIN_MS = 20_000;

export class Watch {
  /** By event, in ms. */
  longestGap = {};
  longestStale = {};
  /** Terms of leadership that had two holders. */
  doubleTerms = 0;
  event = '';
  #isOver = false;
  #holders = new Map();

  constructor(cluster, serverId) {
    this.cluster = cluster;
    this.serverId = serverId;
  }

  start() {
    this.done = Promise.all([this.#leadership(), this.#renames()]);
  }

  end() {
    this.#isOver = true;
    return this.done;
  }

  async #leadership() {
    let ledAt = performance.now();
    while (!this.#isOver) {
      await sleep(LOOK_EVERY_MS);
      const rows = await this.cluster
        .query('SELECT term, holder, expires_at > clock_timestamp() AS held FROM mcp.leader_lease')
        .catch(() => []);
      const [lease] = rows;
      // While the database does not answer, no replica can lead.
      if (!lease?.held) continue;
      const now = performance.now();
      const gap = Math.round(now - ledAt);
      this.longestGap[this.event] = Math.max(this.longestGap[this.event] ?? 0, gap);
      ledAt = now;
      const holder = this.#holders.get(lease.term) ?? lease.holder;
      if (holder !== lease.holder) this.doubleTerms++;
      this.#holders.set(lease.term, lease.holder);
    }
  }

  /** Renames a server through the balancer and looks when each replica that is ready lists the tools by that name. */
  async #renames() {
    for (let n = 1; !this.#isOver; n++) {
      await sleep(RENAME_EVERY_MS);
      const { event } = this;
      const name = `renamed-${n}`;
      const path = `/api/v1/aggregator/servers/${this.serverId}`;
      const answer = await rest(this.cluster.entry, 'PATCH', path, { name }).catch(() => undefined);
      if (answer?.status !== 200) continue;
      const writtenAt = performance.now();
      const shown = await Promise.all(
        this.cluster.balancer.ready.map((url) => this.#shownAt(url, `${name}__`)),
      );
      const stale = Math.round(Math.max(...shown, writtenAt) - writtenAt);
      this.longestStale[event] = Math.max(this.longestStale[event] ?? 0, stale);
    }
  }

  /** A replica that is no longer ready shows nothing to clients. */
  async #shownAt(url, prefix) {
    const end = performance.now() + SHOWN_WITHIN_MS;
    const service = { ...this.cluster.entry, url };
    while (performance.now() < end && this.cluster.balancer.isReady(url)) {
      const list = postModern(service, { id: 1, method: 'tools/list', params: {} });
      const answer = await Promise.race([list, sleep(1_000)]).catch(() => undefined);
      if (answer?.message?.result?.tools.some(({ name }) => name.startsWith(prefix))) break;
      await sleep(20);
    }
    return performance.now();
  }
}
