/**
 * Named places where a crash test ends the process as `kill -9` would, selected by MCP_AGGREGATOR_FAIL_POINT: when it
 * first comes there, or with `name:3` the third time. No effect without it.
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
  'tokens.written',
  'tokens.committed',
] as const;
export type FailPoint = (typeof failPoints)[number];

/** `name` or `name:3`. */
export const failPointPattern = new RegExp(`^(?:${failPoints.join('|')})(?::[1-9]\\d{0,5})?$`);

export class FailPoints {
  private readonly armed: string | undefined;
  private left: number;

  constructor(setting: string | undefined) {
    const [name, times = '1'] = setting?.split(':') ?? [];
    this.armed = name;
    this.left = Number(times);
  }

  pass(point: FailPoint): void {
    if (point !== this.armed) return;
    this.left -= 1;
    if (this.left === 0) process.kill(process.pid, 'SIGKILL');
  }
}
