/**
 * Named places where a crash test ends the process as `kill -9` would: MCP_AGGREGATOR_FAIL_POINT
 * names one. Without it they do nothing.
 */
export const failPoints = [
  'discovery.listed',
  'discovery.written',
  'discovery.committed',
  'discovery.published',
  'catalogue.read',
  'vectors.embedded',
  'vectors.saved',
  'vectors.indexed',
] as const;
export type FailPoint = (typeof failPoints)[number];

export class FailPoints {
  constructor(private readonly armed: FailPoint | undefined) {}

  pass(point: FailPoint): void {
    if (point === this.armed) process.kill(process.pid, 'SIGKILL');
  }
}
