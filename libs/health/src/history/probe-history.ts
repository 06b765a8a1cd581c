import { Injectable } from '@nestjs/common';

/** One health check: how long it took, or null if it failed. */
export interface Probe {
  /** ms since 1970. */
  readonly at: number;
  readonly ms: number | null;
}

export interface ProbeLatency {
  readonly checks: number;
  readonly failures: number;
  /** Of the checks that succeeded; null if none did. */
  readonly p50: number | null;
  readonly p95: number | null;
  readonly max: number | null;
}

/** Older checks are forgotten. */
export const PROBES_KEPT_MS = 24 * 3_600_000;
/** Of all servers together, 8 MB; each server has an equal part. */
const MAX_PROBES = 500_000;

/** The health checks of this process, which only the replica that leads makes. Lost with it: rows keep the statuses. */
@Injectable()
export class ProbeHistory {
  /** By server id, oldest first. */
  private readonly probes = new Map<string, Probe[]>();

  note(serverId: string, probe: Probe): void {
    let ofServer = this.probes.get(serverId);
    if (!ofServer) this.probes.set(serverId, (ofServer = []));
    ofServer.push(probe);
    const most = Math.floor(MAX_PROBES / this.probes.size);
    const isOld = (ofServer[0]?.at ?? 0) < probe.at - PROBES_KEPT_MS;
    if (ofServer.length <= most && !isOld) return;
    const first = ofServer.findIndex(({ at }) => at >= probe.at - PROBES_KEPT_MS);
    // More than has to be, so that not every check moves the whole list.
    ofServer.splice(0, Math.max(first, ofServer.length - most, Math.ceil(ofServer.length / 20)));
  }

  forget(serverId: string): void {
    this.probes.delete(serverId);
  }

  /** Oldest first. */
  between(serverId: string, from: number, to: number): readonly Probe[] {
    return (this.probes.get(serverId) ?? []).filter(({ at }) => at >= from && at < to);
  }
}

export function latencyOf(probes: readonly Probe[]): ProbeLatency | null {
  if (probes.length === 0) return null;
  const times = probes.flatMap(({ ms }) => (ms === null ? [] : [ms])).sort((a, b) => a - b);
  return {
    checks: probes.length,
    failures: probes.length - times.length,
    p50: percentile(times, 0.5),
    p95: percentile(times, 0.95),
    max: times.at(-1) ?? null,
  };
}

/** Nearest rank. */
function percentile(sorted: readonly number[], share: number): number | null {
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? null;
}
