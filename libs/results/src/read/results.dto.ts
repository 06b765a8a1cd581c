import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { ToWholeNumber } from '@app/platform';
import { IsInt, IsOptional, Max, Min } from 'class-validator';
import type { KeptPage } from '../keep/kept-result.store.js';
import { resultUri } from '../result-uri.js';

const MAX_PAGE = 999_999_999;

export class ResultPageQuery {
  @ApiPropertyOptional({ minimum: 1, maximum: MAX_PAGE, default: 1 })
  @ToWholeNumber()
  @IsOptional()
  @IsInt({ message: 'Must be a whole number' })
  @Min(1, { message: 'Must be at least 1' })
  @Max(MAX_PAGE, { message: `Must be at most ${MAX_PAGE}` })
  readonly page: number = 1;
}

export class ResultPageView {
  @ApiProperty({ format: 'uuid' })
  readonly id!: string;

  @ApiProperty({ description: 'The same result for resources/read of MCP.' })
  readonly uri!: string;

  @ApiProperty()
  readonly page!: number;

  @ApiProperty()
  readonly pages!: number;

  @ApiProperty({ format: 'date-time' })
  readonly expires_at!: string;

  @ApiProperty({
    description: 'A part of the result of `tools/call` as JSON; the pages in order are the whole.',
  })
  readonly text!: string;

  @ApiProperty({ type: Number, nullable: true, description: 'Null on the last page.' })
  readonly next_page!: number | null;
}

export function toResultPageView(
  id: string,
  page: number,
  { text, pages, expiresAt }: KeptPage,
): ResultPageView {
  return {
    id,
    uri: resultUri(id),
    page,
    pages,
    expires_at: expiresAt.toISOString(),
    text,
    next_page: page < pages ? page + 1 : null,
  };
}
