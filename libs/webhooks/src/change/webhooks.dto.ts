import { ApiProperty, ApiPropertyOptional, PartialType } from '@nestjs/swagger';
import { type StateTopic, stateTopics } from '@app/activity';
import { IsCleanText, MaxChars, PageView } from '@app/platform';
import {
  ArrayMaxSize,
  ArrayNotEmpty,
  ArrayUnique,
  IsArray,
  IsBoolean,
  IsIn,
  IsOptional,
  IsString,
  MaxLength,
} from 'class-validator';

const MAX_URL = 2_000;
const MAX_SERVERS = 1_000;
const text = { message: 'Input should be a string' };

export class CreateWebhookDto {
  @ApiProperty({ example: 'https://hooks.example.com/switchboard', maxLength: MAX_URL })
  @IsString(text)
  @MaxLength(MAX_URL, { message: `Must have at most ${MAX_URL} characters` })
  readonly url!: string;

  @ApiPropertyOptional({ type: String, nullable: true, maxLength: 200 })
  @IsOptional()
  @IsString(text)
  @MaxChars(200, { message: 'Must have at most 200 characters' })
  @IsCleanText()
  readonly description?: string | null;

  @ApiProperty({ enum: stateTopics, isArray: true, example: ['server', 'health'] })
  @IsArray({ message: 'Input should be a list of topics' })
  @ArrayNotEmpty({ message: 'Must name a topic' })
  @ArrayUnique({ message: 'Must name each topic once' })
  @IsIn(stateTopics, { each: true, message: `A topic is one of ${stateTopics.join(', ')}` })
  readonly topics!: StateTopic[];

  @ApiPropertyOptional({
    type: [String],
    nullable: true,
    example: ['github-mcp'],
    description: 'Names or ids: only events about these servers. Null, or left out, for all.',
  })
  @IsOptional()
  @IsArray({ message: 'Input should be a list of servers' })
  @ArrayNotEmpty({ message: 'Must name a server' })
  @ArrayMaxSize(MAX_SERVERS, { message: `Must name at most ${MAX_SERVERS} servers` })
  @IsString({ each: true, message: 'Must be names or ids of servers' })
  @MaxLength(255, { each: true, message: 'Must be names or ids of servers' })
  readonly servers?: string[] | null;

  @ApiPropertyOptional({ default: true })
  @IsOptional()
  @IsBoolean({ message: 'Must be true or false' })
  readonly enabled?: boolean;
}

export class ChangeWebhookDto extends PartialType(CreateWebhookDto) {}

export class WebhookView {
  @ApiProperty({ format: 'uuid' })
  readonly id!: string;
  @ApiProperty()
  readonly url!: string;
  @ApiProperty({ type: String, nullable: true })
  readonly description!: string | null;
  @ApiProperty({ enum: stateTopics, isArray: true })
  readonly topics!: StateTopic[];
  @ApiProperty({ type: [String], nullable: true, description: 'Names; ids of removed servers.' })
  readonly servers!: string[] | null;
  @ApiProperty()
  readonly enabled!: boolean;
  @ApiProperty()
  readonly created_by!: string;
  @ApiProperty({ format: 'date-time' })
  readonly created_at!: string;
  @ApiProperty({ format: 'date-time' })
  readonly updated_at!: string;
  @ApiProperty({ type: 'integer', description: 'Events that were not taken yet.' })
  readonly waiting!: number;
  @ApiProperty({ type: 'integer', description: 'Events that were given up.' })
  readonly dead!: number;
  @ApiProperty({ type: String, format: 'date-time', nullable: true })
  readonly delivered_at!: string | null;
  @ApiProperty({
    type: String,
    format: 'date-time',
    nullable: true,
    description: 'Since when no event was taken; null if the last one was.',
  })
  readonly failing_since!: string | null;
  @ApiProperty({ type: String, nullable: true, example: 'it answered 500' })
  readonly last_error!: string | null;
}

export class SecretWebhookView extends WebhookView {
  @ApiProperty({
    example: 'whsec_…',
    description: 'Verifies the signature of each event; it is shown only this once.',
  })
  readonly secret!: string;
}

export class WebhookListView extends PageView {
  @ApiProperty({ type: [WebhookView] })
  readonly webhooks!: WebhookView[];
}
