import { Injectable, type PipeTransform } from '@nestjs/common';
import { isUUID } from 'class-validator';
import { TokenNotFound } from '../access.errors.js';

/** An id that is no UUID is answered like an unknown token (contract R3). */
@Injectable()
export class TokenIdPipe implements PipeTransform<string, string> {
  transform(value: string): string {
    if (!isUUID(value)) throw new TokenNotFound(value);
    return value.toLowerCase();
  }
}
