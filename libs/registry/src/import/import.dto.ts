import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import {
  ArrayMaxSize,
  IsArray,
  IsObject,
  IsOptional,
  IsString,
  Matches,
  type ValidationOptions,
  ValidateBy,
} from 'class-validator';
import { IsCleanText, MaxChars, type Trust, trustLevels } from '@app/platform';
import { type TransportType, transportTypes } from '../connection/connection-config.js';
import { maskConfig } from '../connection/mask-config.js';
import { ServerView, toServerView } from '../servers.dto.js';
import type { PastedOutcome } from './import-pasted.command.js';
import { type ImportVerdict, importVerdicts, type PlannedServer } from './plan-import.query.js';

const MAX_TEXT = 262_144;
const MAX_VALUES = 100;
const MAX_VALUE_CHARS = 32_768;

/** Short texts by names of variables. */
const IsTexts = (options: ValidationOptions): PropertyDecorator =>
  ValidateBy(
    {
      name: 'isTexts',
      validator: {
        validate: (given: unknown): boolean =>
          typeof given === 'object' &&
          given !== null &&
          Object.entries(given).length <= MAX_VALUES &&
          Object.values(given).every(
            (value) => typeof value === 'string' && value.length <= MAX_VALUE_CHARS,
          ),
      },
    },
    options,
  );

export class ImportPreviewDto {
  @ApiProperty({
    maxLength: MAX_TEXT,
    example: '{"mcpServers":{"sentry":{"url":"https://mcp.sentry.dev/mcp"}}}',
    description:
      'JSON of a client (`mcpServers`, or `servers` as VS Code writes it), one URL, or one command line.',
  })
  @IsString({ message: 'Input should be a string' })
  @Matches(/\S/, { message: 'Must not be empty' })
  @MaxChars(MAX_TEXT, { message: `Must have at most ${MAX_TEXT} characters` })
  @IsCleanText()
  readonly text!: string;

  @ApiPropertyOptional({
    type: 'object',
    additionalProperties: { type: 'string' },
    example: { LINEAR_KEY: 'lin_api_…' },
    description: 'Values that are put in the place of `${NAME}`, and stored encrypted.',
  })
  @IsOptional()
  @IsObject({ message: 'Input should be a JSON object' })
  @IsTexts({ message: `Must have at most ${MAX_VALUES} members, each a text` })
  readonly values?: Record<string, string>;
}

export class ImportPastedDto extends ImportPreviewDto {
  @ApiPropertyOptional({
    type: [String],
    example: ['sentry'],
    description: 'The entries to register, by `key`; without it all that are new.',
  })
  @IsOptional()
  @IsArray({ message: 'Input should be a list of keys' })
  @ArrayMaxSize(200, { message: 'Must have at most 200 keys' })
  @IsString({ each: true, message: 'Every key should be a string' })
  readonly keys?: string[];
}

export class PlannedRegistrationView {
  @ApiProperty({ example: 'sentry' })
  readonly name!: string;
  @ApiProperty({ type: String, nullable: true })
  readonly description!: string | null;
  @ApiProperty({ enum: transportTypes })
  readonly transport_type!: TransportType;
  @ApiProperty({
    type: 'object',
    additionalProperties: true,
    example: { base_url: 'https://mcp.sentry.dev/mcp', headers: {} },
    description: 'With secrets masked.',
  })
  readonly connection_config!: Record<string, unknown>;
  @ApiProperty()
  readonly auto_connect!: boolean;
  @ApiProperty({ type: String, enum: [...trustLevels, null], nullable: true })
  readonly trust!: Trust | null;
}

export class PlannedServerView {
  @ApiProperty({ example: 'sentry', description: 'As it was pasted.' })
  readonly key!: string;
  @ApiProperty({
    enum: importVerdicts,
    description:
      'new: can be registered; known: is registered so; changed: a server of that name is registered otherwise; unusable: cannot be registered.',
  })
  readonly verdict!: ImportVerdict;
  @ApiProperty({
    type: String,
    nullable: true,
    example: 'it has neither a "command" nor a "url"',
  })
  readonly reason!: string | null;
  @ApiProperty({
    type: PlannedRegistrationView,
    nullable: true,
    description: 'What would be registered; null for an entry that cannot be.',
  })
  readonly registration!: PlannedRegistrationView | null;
  @ApiProperty({
    type: String,
    nullable: true,
    description: 'The server that is known or changed.',
  })
  readonly server_id!: string | null;
  @ApiProperty({ type: String, nullable: true, example: 'sentry' })
  readonly server_name!: string | null;
  @ApiProperty({
    type: [String],
    example: ['headers'],
    description: 'Members of the configuration that differ.',
  })
  readonly changes!: readonly string[];
  @ApiProperty({
    type: [String],
    example: ['LINEAR_KEY'],
    description: 'Variables that it names, and that this service does not have.',
  })
  readonly missing_variables!: readonly string[];
}

export class ImportPreviewView {
  @ApiProperty({ type: [PlannedServerView] })
  readonly servers!: readonly PlannedServerView[];
}

export class SkippedServerView {
  @ApiProperty({ example: 'notes' })
  readonly key!: string;
  @ApiProperty({ example: 'it is registered already' })
  readonly reason!: string;
}

export class ImportedView {
  @ApiProperty({ type: [ServerView] })
  readonly registered!: readonly ServerView[];
  @ApiProperty({ type: [SkippedServerView] })
  readonly skipped!: readonly SkippedServerView[];
}

export function toPlannedView(planned: PlannedServer): PlannedServerView {
  const { key, verdict, reason, registration, config, server, changes } = planned;
  return {
    key,
    verdict,
    reason: reason ?? null,
    registration:
      registration && config
        ? {
            name: registration.name,
            description: registration.description ?? null,
            transport_type: registration.transportType,
            connection_config: maskConfig(config),
            auto_connect: registration.autoConnect,
            trust: registration.trust ?? null,
          }
        : null,
    server_id: server?.id ?? null,
    server_name: server?.name ?? null,
    changes,
    missing_variables: planned.missingVariables,
  };
}

export function toImportedView({ registered, skipped }: PastedOutcome): ImportedView {
  return {
    registered: registered.map((server) =>
      toServerView(server, { withheldCount: 0, needsLogin: false }),
    ),
    skipped,
  };
}
