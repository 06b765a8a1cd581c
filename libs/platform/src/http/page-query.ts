import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { Transform } from 'class-transformer';
import { IsInt, IsOptional, Max, Min } from 'class-validator';

/** Only plain digits: `1e3`, `0x10` and `" 5"` are refused. */
export const ToWholeNumber = (): PropertyDecorator =>
  Transform(({ value }: { value: unknown }) =>
    typeof value === 'string' ? (/^-?\d{1,15}$/.test(value) ? Number(value) : Number.NaN) : value,
  );

/** `true` or `false` only. */
export const ToFlag = (): PropertyDecorator =>
  Transform(({ value }: { value: unknown }) =>
    value === 'true' ? true : value === 'false' ? false : value,
  );

/** Paging of every list (contract R2). */
export class PageQuery {
  @ApiPropertyOptional({ minimum: 1, maximum: 500, default: 100 })
  @ToWholeNumber()
  @IsOptional()
  @IsInt({ message: 'Must be a whole number' })
  @Min(1, { message: 'Must be at least 1' })
  @Max(500, { message: 'Must be at most 500' })
  readonly limit: number = 100;

  @ApiPropertyOptional({ minimum: 0, default: 0 })
  @ToWholeNumber()
  @IsOptional()
  @IsInt({ message: 'Must be a whole number' })
  @Min(0, { message: 'Must be at least 0' })
  @Max(1_000_000_000, { message: 'Must be at most 1000000000' })
  readonly offset: number = 0;
}

/** The paging fields of every list. */
export abstract class PageView {
  @ApiProperty({ description: 'Number of items in the whole list.' })
  readonly total!: number;
  @ApiProperty()
  readonly limit!: number;
  @ApiProperty()
  readonly offset!: number;
}
