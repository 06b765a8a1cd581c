import { Injectable, type PipeTransform } from '@nestjs/common';
import { isUUID } from 'class-validator';
import { ClientGrantNotFound } from '../oauth.errors.js';

/** An id that is no UUID is answered like an unknown grant (contract R3). */
@Injectable()
export class ClientGrantIdPipe implements PipeTransform<string, string> {
  transform(value: string): string {
    if (!isUUID(value)) throw new ClientGrantNotFound(value);
    return value.toLowerCase();
  }
}
