import { ApiProperty } from '@nestjs/swagger';
import { AuthorizationView, type Server } from '@app/registry';

export class ServerHealthView {
  @ApiProperty({ format: 'uuid' })
  readonly server_id!: string;

  @ApiProperty({ example: 'github-mcp' })
  readonly name!: string;

  @ApiProperty({ example: 'CONNECTED' })
  readonly status!: string;

  @ApiProperty({ description: 'True when the status is CONNECTED and the last check succeeded' })
  readonly healthy!: boolean;

  @ApiProperty({ type: String, format: 'date-time', nullable: true })
  readonly last_health_check!: string | null;

  @ApiProperty({ type: Number, nullable: true, example: 12.5 })
  readonly response_time_ms!: number | null;

  @ApiProperty({ example: 0 })
  readonly consecutive_failures!: number;

  @ApiProperty({
    type: String,
    nullable: true,
    example: 'HEALTH_CHECK_FAILED: the health check URL answers 500',
    description: 'Reason for the last failed check, or the misconfiguration of the check',
  })
  readonly last_error!: string | null;

  @ApiProperty({
    type: String,
    nullable: true,
    description: 'Reason for the status DEGRADED or ERROR',
  })
  readonly error_message!: string | null;

  @ApiProperty({
    type: AuthorizationView,
    nullable: true,
    description: 'OAuth state; only for servers that use OAuth.',
  })
  readonly authorization!: AuthorizationView | null;
}

export function toServerHealthView(
  server: Server,
  authorization: AuthorizationView | null,
): ServerHealthView {
  return {
    server_id: server.id,
    name: server.name,
    status: server.status,
    healthy: server.status === 'CONNECTED' && server.consecutiveFailures === 0,
    last_health_check: server.lastHealthCheck?.toISOString() ?? null,
    response_time_ms: server.responseTimeMs,
    consecutive_failures: server.consecutiveFailures,
    last_error: server.lastError,
    error_message: server.errorMessage,
    authorization,
  };
}
