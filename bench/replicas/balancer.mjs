// node balancer.mjs <port> <replica port>…: one address for several replicas. A connection goes to the replica of the
// session in its first request, a new session to the next replica (round robin).
import net from 'node:net';

const [port, ...replicas] = process.argv.slice(2).map(Number);
const replicaOf = new Map();
const sessionId = /\r\nmcp-session-id: *([^\r\n]+)/i;
let turn = 0;

net
  .createServer({ noDelay: true }, (client) => {
    client.on('error', () => client.destroy());
    client.once('data', (first) => {
      const known = replicaOf.get(sessionId.exec(first.latin1Slice())?.[1]);
      const replica = known ?? replicas[turn++ % replicas.length];
      const server = net.connect({ port: replica, host: '127.0.0.1', noDelay: true });
      server.on('error', () => client.destroy());
      client.once('close', () => server.destroy());
      server.once('close', () => client.destroy());
      server.once('data', (answer) => {
        const id = sessionId.exec(answer.latin1Slice())?.[1];
        if (id) replicaOf.set(id, replica);
      });
      server.write(first);
      client.pipe(server);
      server.pipe(client);
    });
  })
  .listen(port, '127.0.0.1');
