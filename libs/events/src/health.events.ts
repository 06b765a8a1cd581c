export const HEALTH_CHECK_FAILED = 'HEALTH_CHECK_FAILED';

/** A health check of a server failed; `consecutiveFailures` counts this one too. The row has the same state. */
export class HealthFailed {
  readonly code = HEALTH_CHECK_FAILED;

  constructor(
    readonly serverId: string,
    readonly consecutiveFailures: number,
    readonly reason: string,
  ) {}
}

/** A health check succeeded after at least one had failed. The row has the same state. */
export class HealthRecovered {
  constructor(readonly serverId: string) {}
}
