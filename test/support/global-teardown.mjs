import { rm } from 'node:fs/promises';

export default async function stopPostgres() {
  const { server, folder } = globalThis.testPostgres;
  await server.stop();
  await rm(folder, { recursive: true, force: true });
}
