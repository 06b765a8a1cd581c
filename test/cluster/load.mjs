// Calls at a constant rate, whatever becomes of them, and what became of them by event.
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { isOwn } from './users.mjs';

/** An older process of a server that runs once may still answer for so long after the next one began. */
const HANDOVER_MS = 1_000;

/** Calls that ask a user are served one at a time by a STDIO server, which at this rate would be overloaded by them. */
const ASK_EVERY = 10;
const isSerial = ({ server, tool }, onceServer) => server === onceServer && tool === 'ask';

export class Load {
  /** `{ event, key, tool, kind, ok, why, outcome, isCrossed, isMisdirected }` of every call. */
  calls = [];
  event = '';
  #isOver = false;
  #running = new Set();
  /** Of the server that runs once: the id of a process to the time of its first answer. */
  #begun = new Map();

  constructor(users, onceServer) {
    this.users = users;
    this.onceServer = onceServer;
  }

  start(perSecond) {
    this.loop = this.#loop(perSecond);
  }

  async #loop(perSecond) {
    const begunAt = performance.now();
    for (let n = 0; !this.#isOver; n++) {
      const user = this.users[n % this.users.length];
      const turn = Math.floor(n / this.users.length);
      const isDue = !isSerial(user, this.onceServer) || turn % ASK_EVERY === 0;
      const call = this.#call(isDue ? user : this.users[0]);
      this.#running.add(call);
      void call.finally(() => this.#running.delete(call));
      const wait = begunAt + ((n + 1) * 1_000) / perSecond - performance.now();
      if (wait > 0) await sleep(wait);
    }
  }

  async #call(user) {
    const { event } = this;
    const key = randomUUID();
    let isCrossed = false;
    const heard = ({ method, params }) => {
      if (method === 'notifications/progress' && params.progressToken !== key) isCrossed = true;
    };
    const told = await user
      .call(key, heard)
      .catch((error) => ({ ok: false, why: String(error.message ?? error) }));
    const { tool, kind, server } = user;
    if (told.ok && !isOwn(tool, key, told.said)) isCrossed = true;
    const isMisdirected =
      told.ok && server === this.onceServer && this.#isOfAnother(told.said.process);
    this.calls.push({ event, key, tool, kind, server, ...told, isCrossed, isMisdirected });
  }

  /** Whether a process answers that has been followed by another. */
  #isOfAnother(id) {
    const now = performance.now();
    const begunAt = this.#begun.get(id) ?? now;
    this.#begun.set(id, begunAt);
    return [...this.#begun.values()].some((other) => other > begunAt && other < now - HANDOVER_MS);
  }

  async end() {
    this.#isOver = true;
    await this.loop;
    await Promise.all(this.#running);
  }

  /** Compares with what the servers wrote down; by event, in the order of the events. */
  judge(ledgers) {
    const written = new Map();
    for (const file of ledgers) {
      for (const key of readFileSync(file, 'utf8').split('\n')) {
        if (key) written.set(key, (written.get(key) ?? 0) + 1);
      }
    }
    const byEvent = new Map();
    for (const call of this.calls) {
      const times = written.get(call.key) ?? 0;
      const sum = byEvent.get(call.event) ?? {
        calls: 0,
        failed: 0,
        doubled: 0,
        crossed: 0,
        misdirected: 0,
        dishonest: 0,
        reasons: new Map(),
      };
      byEvent.set(call.event, sum);
      sum.calls++;
      if (!call.ok) {
        sum.failed++;
        const why =
          `${call.kind} of ${call.server}: ${call.why.replaceAll(/[0-9a-f-]{36}|\d+/g, '#')}`.slice(
            0,
            160,
          );
        sum.reasons.set(why, (sum.reasons.get(why) ?? 0) + 1);
      }
      if (times > 1) sum.doubled++;
      if (call.isCrossed) sum.crossed++;
      if (call.isMisdirected) sum.misdirected++;
      if (call.ok ? times === 0 : call.outcome === 'not executed' && times > 0) sum.dishonest++;
    }
    return byEvent;
  }
}
