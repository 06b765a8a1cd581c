import { Injectable, type PipeTransform } from '@nestjs/common';
import { isUUID } from 'class-validator';
import { PersonNotFound } from '../access.errors.js';

/** An id that is no UUID is answered like an unknown person (contract R3). */
@Injectable()
export class PersonIdPipe implements PipeTransform<string, string> {
  transform(value: string): string {
    if (!isUUID(value)) throw new PersonNotFound(value);
    return value.toLowerCase();
  }
}
