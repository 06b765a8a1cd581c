export default function stopTestPostgres() {
  return globalThis.testPostgres.stop();
}
