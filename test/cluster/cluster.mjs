// Replicas of the built service on one real PostgreSQL behind one balancer; each reaches the database through a proxy.
import pg from 'pg';
import { startService, TOKENS, until } from '../faults/service.mjs';
import { startPostgres } from '../support/embedded-postgres.mjs';
import { Balancer } from './balancer.mjs';
import { Proxy } from './proxy.mjs';

const KEY = 'a-key-for-the-cluster-suite-only';
const tokenOf = (user) => `${user}-token-of-the-cluster-suite`;
const USER = 'postgres';

export class Cluster {
  /** `env`: further settings of each replica. */
  constructor(users, env = {}) {
    this.users = users;
    this.env = env;
  }

  balancer = new Balancer();
  /** Running replicas: `{ service, proxy, name }`. */
  replicas = [];
  #started = 0;
  #stopPostgres;

  async start(count) {
    this.url = await this.balancer.listen();
    /** What the functions of the fault suite take for a service. */
    this.entry = { url: this.url, token: TOKENS.ada };
    const { server, port, stop } = await startPostgres();
    this.postgres = server;
    this.port = port;
    this.#stopPostgres = stop;
    await this.postgres.createDatabase('cluster');
    for (let i = 0; i < count; i++) await this.add();
  }

  /** The entry for this user. */
  entryOf(user) {
    return { url: this.url, token: tokenOf(user) };
  }

  urlOf(port) {
    return `postgres://${USER}:${USER}@127.0.0.1:${port}/cluster`;
  }

  /** One more replica, ready behind the balancer. */
  async add() {
    const proxy = new Proxy(this.port);
    const service = await startService({
      env: {
        DATABASE_URL: this.urlOf(await proxy.listen()),
        MCP_CREDENTIAL_KEY: KEY,
        MCP_AGGREGATOR_TOKENS: [
          `ada:admin:${TOKENS.ada}`,
          ...this.users.map((user) => `${user}:read+call:${tokenOf(user)}`),
        ].join(),
        MCP_AGGREGATOR_ALLOW_INSECURE_HTTP: 'true',
        MCP_AGGREGATOR_LOG_LEVEL: 'info',
        // The balancer polls twice a second.
        MCP_AGGREGATOR_SHUTDOWN_DELAY: '2',
        ...this.env,
      },
    });
    const replica = { name: `replica ${++this.#started}`, service, proxy, leads: false };
    const hear = (text) => {
      const last = text.match(/leadership\.(?:taken|lost)/g)?.at(-1);
      if (last) replica.leads = last.endsWith('taken');
    };
    hear(service.output());
    service.child.stdout.on('data', hear);
    this.replicas.push(replica);
    this.balancer.add(service.url);
    await until(() => this.balancer.isReady(service.url), `${replica.name} is ready`);
    return replica;
  }

  /** The replica that says in its log that it leads. */
  leader() {
    return until(() => this.replicas.find(({ leads }) => leads), 'a replica leads');
  }

  async follower() {
    const leader = await this.leader();
    return this.replicas.find((replica) => replica !== leader);
  }

  /** As a supervisor and a rolling restart stop it; resolves when it has ended. */
  async stop(replica) {
    this.replicas = this.replicas.filter((one) => one !== replica);
    replica.service.child.kill('SIGTERM');
    await replica.service.exited;
    this.balancer.remove(replica.service.url);
  }

  async kill(replica) {
    this.replicas = this.replicas.filter((one) => one !== replica);
    replica.service.child.kill('SIGKILL');
    await replica.service.exited;
    this.balancer.remove(replica.service.url);
  }

  async restartPostgres() {
    await this.postgres.stop();
    await this.postgres.start();
  }

  /** A connection of its own, past the proxies. */
  async query(sql) {
    const client = new pg.Client({ connectionString: this.urlOf(this.port) });
    client.on('error', () => undefined);
    await client.connect();
    try {
      return (await client.query(sql)).rows;
    } finally {
      await client.end();
    }
  }

  async end() {
    await Promise.all(this.replicas.map(({ service }) => service.stop()));
    await this.#stopPostgres();
  }
}
