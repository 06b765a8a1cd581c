import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { Type } from 'class-transformer';
import { IsBoolean, IsNumber, IsOptional, Max, Min } from 'class-validator';
import type { ConnectOutcome } from './connect/connect-server.command.js';
import type { DisconnectOutcome } from './connect/disconnect-server.command.js';

export class WaitQuery {
  @ApiPropertyOptional({
    minimum: 0,
    maximum: 60,
    default: 0,
    description: 'Wait so long for the outcome',
  })
  @IsOptional()
  @Type(() => Number)
  @IsNumber()
  @Min(0)
  @Max(60)
  readonly wait_seconds?: number;
}

export class DisconnectDto {
  @ApiPropertyOptional({ default: false, description: 'Cancel pending requests at once' })
  @IsOptional()
  @IsBoolean()
  readonly force?: boolean;
}

export class ConnectView {
  @ApiProperty({ format: 'uuid' })
  readonly server_id!: string;

  @ApiProperty({ example: 'CONNECTING' })
  readonly status!: string;

  @ApiProperty({ example: 'Connection initiated' })
  readonly message!: string;
}

export class DisconnectView extends ConnectView {
  @ApiProperty({ example: 0 })
  readonly pending_requests!: number;
}

export class LogsView {
  @ApiProperty({ format: 'uuid' })
  readonly server_id!: string;

  @ApiProperty({ type: [String], description: 'Oldest first; secrets are taken out' })
  readonly lines!: readonly string[];
}

export function toConnectView({ serverId, status, message }: ConnectOutcome): ConnectView {
  return { server_id: serverId, status, message };
}

export function toDisconnectView(outcome: DisconnectOutcome): DisconnectView {
  const { serverId, status, pendingRequests, message } = outcome;
  return { server_id: serverId, status, pending_requests: pendingRequests, message };
}
