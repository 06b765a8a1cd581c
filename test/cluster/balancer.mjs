// A round-robin load balancer in front of the replicas, without stickiness: it polls readiness, takes out a replica
// whose connections fail, keeps connections alive, leaves the Host header as it is and repeats no request.
import http from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

const POLL_EVERY_MS = 500;
const POLL_WITHIN_MS = 1_000;

export class Balancer {
  #targets = [];
  #next = 0;
  #agent = new http.Agent({ keepAlive: true });
  #server = http.createServer((request, response) => this.#pass(request, response));

  async listen() {
    await new Promise((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    void this.#poll();
    return `http://127.0.0.1:${this.#server.address().port}`;
  }

  add(url) {
    this.#targets.push({ url, isReady: false });
  }

  remove(url) {
    this.#targets = this.#targets.filter((target) => target.url !== url);
  }

  isReady(url) {
    return this.#targets.some((target) => target.url === url && target.isReady);
  }

  get ready() {
    return this.#targets.filter(({ isReady }) => isReady).map(({ url }) => url);
  }

  async #poll() {
    for (;;) {
      await Promise.all(
        this.#targets.map(async (target) => {
          const signal = AbortSignal.timeout(POLL_WITHIN_MS);
          target.isReady = await fetch(`${target.url}/health/ready`, { signal }).then(
            async (answer) => (await answer.arrayBuffer(), answer.ok),
            () => false,
          );
        }),
      );
      await sleep(POLL_EVERY_MS, undefined, { ref: false });
    }
  }

  #pass(incoming, response) {
    const ready = this.#targets.filter(({ isReady }) => isReady);
    const target = ready[this.#next++ % Math.max(1, ready.length)];
    let isLeft = false;
    const fail = () => {
      // Of a request that its client gave up, nothing is known about the replica.
      if (isLeft) return;
      if (target) target.isReady = false;
      if (response.headersSent) response.destroy();
      else response.writeHead(502).end('{"detail":"the balancer got no answer"}');
    };
    if (!target) return fail();
    const { method, headers, url } = incoming;
    const { hostname, port } = new URL(target.url);
    const outgoing = http.request({
      hostname,
      port,
      path: url,
      method,
      headers: { ...headers, connection: 'keep-alive' },
      agent: this.#agent,
    });
    outgoing.once('error', fail);
    outgoing.once('response', (answer) => {
      const { connection: _hop, 'keep-alive': _time, ...passed } = answer.headers;
      response.writeHead(answer.statusCode, passed);
      answer.once('error', () => response.destroy());
      answer.pipe(response);
    });
    response.once('close', () => {
      if (response.writableEnded) return;
      isLeft = true;
      outgoing.destroy();
    });
    incoming.pipe(outgoing);
  }
}
