import type { PipeTransform } from '@nestjs/common';
import { isUUID } from 'class-validator';
import type { AppError } from '../errors/app-error.js';

const LARGEST_ROW_ID = 2_147_483_647;

/** An id in a path that is no UUID is answered like an unknown one (contract R3). */
export class UuidPipe implements PipeTransform<string, string> {
  constructor(private readonly notFound: (id: string) => AppError) {}

  transform(value: string): string {
    if (!isUUID(value)) throw this.notFound(value);
    return value.toLowerCase();
  }
}

/** The same for the number of a row (contract R5). */
export class RowIdPipe implements PipeTransform<string, number> {
  constructor(private readonly notFound: (id: string) => AppError) {}

  transform(value: string): number {
    const id = /^[1-9]\d{0,9}$/.test(value) ? Number(value) : Number.NaN;
    if (!(id <= LARGEST_ROW_ID)) throw this.notFound(value);
    return id;
  }
}
