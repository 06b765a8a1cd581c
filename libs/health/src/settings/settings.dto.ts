import { ApiProperty } from '@nestjs/swagger';
import type { EffectiveSetting, SettingSource } from '@app/platform';

export class SettingView {
  @ApiProperty({ example: 'MCP_AGGREGATOR_HEALTH_INTERVAL' })
  readonly name!: string;
  @ApiProperty({ example: 'Servers and tools' })
  readonly group!: string;
  @ApiProperty({ example: 'Seconds between two health checks of a server' })
  readonly description!: string;
  @ApiProperty({
    type: String,
    nullable: true,
    example: '30',
    description:
      'The value in effect, as a file of settings writes it, with the credentials of URLs masked. Null for a secret, and for what has no value.',
  })
  readonly value!: string | null;
  @ApiProperty({ type: String, nullable: true, example: '30' })
  readonly default!: string | null;
  @ApiProperty({ description: 'Its value is never shown.' })
  readonly is_secret!: boolean;
  @ApiProperty({ description: 'Whether a value was given.' })
  readonly is_set!: boolean;
  @ApiProperty({
    enum: ['default', 'environment', 'file', 'command'],
    description: 'file: `.env` in the working directory; command: the command line.',
  })
  readonly source!: SettingSource;
  @ApiProperty({ description: 'Whether a change takes effect only after a restart.' })
  readonly needs_restart!: boolean;
}

export class SettingsView {
  @ApiProperty({ type: [SettingView] })
  readonly settings!: readonly SettingView[];
}

export function toSettingView({ isSecret, isSet, ...setting }: EffectiveSetting): SettingView {
  // All are read once, when the process starts.
  return { ...setting, is_secret: isSecret, is_set: isSet, needs_restart: true };
}
