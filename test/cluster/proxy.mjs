// A TCP proxy between one replica and the database, which breaks as networks do.
import net from 'node:net';

export class Proxy {
  /** `cut` resets connections and refuses new ones, `hold` lets bytes vanish without closing anything. */
  fault = 'none';
  #sockets = new Set();
  #server = net.createServer((client) => this.#accept(client));

  constructor(port) {
    this.upstream = port;
  }

  async listen() {
    await new Promise((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    return this.#server.address().port;
  }

  cut() {
    this.fault = 'cut';
    for (const socket of this.#sockets) socket.resetAndDestroy();
  }

  hold() {
    this.fault = 'hold';
  }

  /** Connections whose bytes vanished are reset: what was lost is unknown. */
  heal() {
    if (this.fault === 'hold') for (const socket of this.#sockets) socket.resetAndDestroy();
    this.fault = 'none';
  }

  #accept(client) {
    if (this.fault === 'cut') return void client.resetAndDestroy();
    const upstream = net.connect(this.upstream, '127.0.0.1');
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ]) {
      this.#sockets.add(from);
      from.on('error', () => undefined);
      from.on('data', (bytes) => {
        if (this.fault !== 'hold') to.write(bytes);
      });
      from.once('close', () => {
        this.#sockets.delete(from);
        if (this.fault !== 'hold') to.destroy();
      });
    }
  }
}
