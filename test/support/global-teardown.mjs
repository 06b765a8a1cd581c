export default function stopTestPostgres() {
  return Promise.all(globalThis.testPostgres.map((postgres) => postgres?.stop()));
}
