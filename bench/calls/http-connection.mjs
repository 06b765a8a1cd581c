// HTTP/1.1 over one socket, one request at a time: minimal, so that the load generator costs less than the target.
import net from 'node:net';

const END_OF_HEAD = Buffer.from('\r\n\r\n');

export class Connection {
  constructor(url) {
    const { hostname, port } = new URL(url);
    this.socket = net.connect({ host: hostname, port: Number(port), noDelay: true });
    this.unread = [];
    this.length = 0;
    this.socket.on('data', (bytes) => this.read(bytes));
    this.socket.on('error', (error) => this.fail(error));
    this.socket.on('close', () => this.fail(new Error('the connection was closed')));
  }

  /** Calls `answered(error, { status, head, body })`; the next request may be sent from within. */
  send(request, answered) {
    this.answered = answered;
    this.socket.write(request);
  }

  ask(request) {
    return new Promise((resolve, reject) => {
      this.send(request, (error, answer) => (error ? reject(error) : resolve(answer)));
    });
  }

  close() {
    this.answered = undefined;
    this.socket.destroy();
  }

  fail(error) {
    const answered = this.answered;
    this.answered = undefined;
    answered?.(error);
  }

  read(bytes) {
    this.unread.push(bytes);
    this.length += bytes.length;
    if (!this.head) {
      const all = this.joined();
      const end = all.indexOf(END_OF_HEAD);
      if (end < 0) return;
      this.head = all.latin1Slice(0, end);
      this.keep(all.subarray(end + END_OF_HEAD.length));
      const length = /\r\ncontent-length: *(\d+)/i.exec(this.head);
      this.expected = length ? Number(length[1]) : undefined;
      if (/ (204|304) /.test(this.head.slice(0, 14))) this.expected = 0;
    }
    if (this.expected === undefined) return this.readChunks();
    if (this.length >= this.expected) this.finish(this.joined().subarray(0, this.expected));
  }

  readChunks() {
    const all = this.joined();
    const parts = [];
    for (let at = 0; ;) {
      const end = all.indexOf('\r\n', at);
      if (end < 0) return;
      const size = parseInt(all.latin1Slice(at, end), 16);
      if (all.length < end + 2 + size + 2) return;
      if (size === 0) return this.finish(Buffer.concat(parts));
      parts.push(all.subarray(end + 2, end + 2 + size));
      at = end + 2 + size + 2;
    }
  }

  joined() {
    const all = this.unread.length === 1 ? this.unread[0] : Buffer.concat(this.unread, this.length);
    this.unread = [all];
    return all;
  }

  keep(bytes) {
    this.unread = [bytes];
    this.length = bytes.length;
  }

  finish(body) {
    const { head, answered } = this;
    this.head = undefined;
    this.unread = [];
    this.length = 0;
    this.answered = undefined;
    answered?.(undefined, { status: Number(head.slice(9, 12)), head, body });
  }
}

export function headOf(url, headers, method = 'POST') {
  const { host, pathname } = new URL(url);
  const lines = Object.entries({ 'Content-Type': 'application/json', ...headers });
  return `${method} ${pathname} HTTP/1.1\r\nHost: ${host}\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}`;
}

export const requestOf = (head, body) =>
  `${head}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;

export const headerOf = (head, name) =>
  new RegExp(`\\r\\n${name}: *([^\\r\\n]*)`, 'i').exec(head)?.[1];

/** The JSON-RPC answer in a JSON body or a short event stream. */
export function messageOf({ head, body }) {
  const text = body.toString();
  if (!headerOf(head, 'content-type')?.startsWith('text/event-stream')) return JSON.parse(text);
  const data = text.split('\n').filter((line) => line.startsWith('data:'));
  return data.map((line) => JSON.parse(line.slice(5))).findLast((message) => 'id' in message);
}
