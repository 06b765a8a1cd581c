/**
 * Named places where a crash test ends the process as `kill -9` would, selected by MCP_AGGREGATOR_FAIL_POINT. No effect
 * without it.
 */
export const failPoints = [
  'discovery.listed',
  'discovery.written',
  'discovery.committed',
  'discovery.published',
  'catalogue.read',
  'policy.committed',
  'policy.written',
  'vectors.embedded',
  'vectors.saved',
  'vectors.indexed',
  'approvals.decided',
  'approvals.committed',
] as const;
export type FailPoint = (typeof failPoints)[number];

export class FailPoints {
  constructor(private readonly armed: FailPoint | undefined) {}

  pass(point: FailPoint): void {
    if (point === this.armed) process.kill(process.pid, 'SIGKILL');
  }
}
