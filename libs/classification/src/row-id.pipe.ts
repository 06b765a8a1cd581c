import type { PipeTransform } from '@nestjs/common';
import type { AppError } from '@app/platform';

const LARGEST_ID = 2_147_483_647;

/** Parses a database id in a path; an invalid id is answered as not found (contract R5). */
export class RowIdPipe implements PipeTransform<string, number> {
  constructor(private readonly notFound: (id: string) => AppError) {}

  transform(value: string): number {
    const id = /^[1-9]\d{0,9}$/.test(value) ? Number(value) : Number.NaN;
    if (!(id <= LARGEST_ID)) throw this.notFound(value);
    return id;
  }
}
