import { ApiProperty, ApiPropertyOptional, PartialType } from '@nestjs/swagger';
import { Type } from 'class-transformer';
import { IsObject, IsOptional, IsString, IsUUID, ValidateNested } from 'class-validator';
import { cutText, IsCleanText, type JsonObject, MaxChars } from '@app/platform';
import { ImportPreviewDto, RegisterServerDto } from '@app/registry';
import type { TrialList, TrialOutcome, TrialSuccess } from './try-server.command.js';

/** Items of each list that an answer names. */
const MAX_NAMED = 200;
const MAX_TEXT_CHARS = 300;

export class PastedEntryDto extends ImportPreviewDto {
  @ApiProperty({ example: 'sentry', description: 'The `key` of the entry.' })
  @IsString({ message: 'Input should be a string' })
  @MaxChars(1_000, { message: 'Must have at most 1000 characters' })
  @IsCleanText()
  readonly key!: string;
}

export class TestServerDto extends PartialType(RegisterServerDto) {
  @ApiPropertyOptional({
    format: 'uuid',
    description:
      'Tests a change of this server: what is left out is as stored, and masked secrets are the stored ones.',
  })
  @IsOptional()
  @IsUUID(undefined, { message: 'Input should be a UUID' })
  readonly server_id?: string;

  @ApiPropertyOptional({
    type: PastedEntryDto,
    description:
      'Tests an entry of a paste, as the import preview names it; instead of all others.',
  })
  @IsOptional()
  @IsObject({ message: 'Input should be a JSON object' })
  @ValidateNested()
  @Type(() => PastedEntryDto)
  readonly pasted?: PastedEntryDto;
}

export class TestedItemView {
  @ApiProperty({ example: 'create_issue', description: 'The name, or the URI of a resource.' })
  readonly name!: string;
  @ApiProperty({ type: String, nullable: true, example: 'Create issue' })
  readonly title!: string | null;
  @ApiProperty({ example: 'Create a new GitHub issue', description: 'The first line.' })
  readonly description!: string;
}

export class TestedListView {
  @ApiProperty({ example: 18 })
  readonly count!: number;
  @ApiProperty({ type: [TestedItemView], description: `The first ${MAX_NAMED}.` })
  readonly items!: readonly TestedItemView[];
}

export class TestedServerView {
  @ApiProperty({
    type: 'object',
    additionalProperties: true,
    example: { name: 'github-mcp-server', version: '1.2.0' },
  })
  readonly server_info!: JsonObject;
  @ApiProperty({ enum: ['legacy', 'modern'] })
  readonly era!: string;
  @ApiProperty({ example: '2026-07-28' })
  readonly protocol_version!: string;
  @ApiProperty({ type: [String], example: ['tools', 'prompts'] })
  readonly capabilities!: readonly string[];
  @ApiProperty({ example: 412, description: 'Characters.' })
  readonly instructions_length!: number;
  @ApiProperty({ type: TestedListView })
  readonly tools!: TestedListView;
  @ApiProperty({ type: TestedListView })
  readonly prompts!: TestedListView;
  @ApiProperty({ type: TestedListView })
  readonly resources!: TestedListView;
  @ApiProperty({ type: TestedListView })
  readonly resource_templates!: TestedListView;
  @ApiProperty({ example: 184.2, description: 'Until the session was open.' })
  readonly connect_ms!: number;
}

export class TestProblemView {
  @ApiProperty({ example: 'SERVER_CONNECTION_FAILED' })
  readonly error_code!: string;
  @ApiProperty({ example: 'Connecting failed: there is no program npxx in the PATH' })
  readonly message!: string;
  @ApiProperty({ example: 'See whether the command or address is right and the server runs.' })
  readonly next_step!: string;
}

export class ServerTestView {
  @ApiProperty({ description: 'Whether a session could be opened.' })
  readonly ok!: boolean;
  @ApiProperty({ type: TestedServerView, nullable: true, description: 'Null if not ok.' })
  readonly server!: TestedServerView | null;
  @ApiProperty({ type: TestProblemView, nullable: true, description: 'Null if ok.' })
  readonly error!: TestProblemView | null;
  @ApiProperty({ description: 'It uses OAuth, and a person has to log in.' })
  readonly needs_login!: boolean;
  @ApiProperty({
    type: String,
    nullable: true,
    example: 'https://auth.example.com',
    description: 'Where to log in.',
  })
  readonly login_issuer!: string | null;
  @ApiProperty({
    type: [String],
    description:
      'Problems for the owner of the server to fix, such as tools that are not published.',
  })
  readonly warnings!: readonly string[];
  @ApiProperty({
    type: [String],
    description: 'The last lines that a program wrote before it failed; secrets are taken out.',
  })
  readonly log!: readonly string[];
  @ApiProperty({ example: 412.5 })
  readonly latency_ms!: number;
}

export function toServerTestView(outcome: TrialOutcome): ServerTestView {
  const { success, problem, needsLogin, loginIssuer, warnings, log, totalMs } = outcome;
  return {
    ok: success !== undefined,
    server: success ? toTestedServerView(success) : null,
    error: problem
      ? { error_code: problem.code, message: problem.message, next_step: problem.nextStep }
      : null,
    needs_login: needsLogin,
    login_issuer: loginIssuer ?? null,
    warnings: warnings.map((text) => cutText(text, MAX_TEXT_CHARS)),
    log: log.map((line) => cutText(line, MAX_TEXT_CHARS)),
    latency_ms: rounded(totalMs),
  };
}

function toTestedServerView(success: TrialSuccess): TestedServerView {
  const { serverInfo, era, protocolVersion, capabilities, instructionsLength, lists } = success;
  return {
    server_info: bounded(serverInfo),
    era,
    protocol_version: protocolVersion,
    capabilities: Object.keys(capabilities).slice(0, MAX_NAMED),
    instructions_length: instructionsLength,
    tools: toListView(lists.tools),
    prompts: toListView(lists.prompts),
    resources: toListView(lists.resources, 'uri'),
    resource_templates: toListView(lists.resourceTemplates, 'uriTemplate'),
    connect_ms: rounded(success.connectMs),
  };
}

/** Only the texts, which are short in every server that means well. */
function bounded(info: JsonObject): JsonObject {
  const texts = Object.entries(info).flatMap(([key, value]) =>
    typeof value === 'string' ? [[key, cutText(value, MAX_TEXT_CHARS)] as const] : [],
  );
  return Object.fromEntries(texts.slice(0, 10));
}

function toListView({ count, items }: TrialList, key = 'name'): TestedListView {
  return {
    count,
    items: items.slice(0, MAX_NAMED).map((item) => ({
      name: textOf(item[key]),
      title: typeof item['title'] === 'string' ? textOf(item['title']) : null,
      description: textOf(item['description']).split('\n', 1)[0] ?? '',
    })),
  };
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? cutText(value, MAX_TEXT_CHARS) : '';
}

function rounded(ms: number): number {
  return Math.round(ms * 10) / 10;
}
