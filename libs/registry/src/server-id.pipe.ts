import { Injectable, type PipeTransform } from '@nestjs/common';
import { isUUID } from 'class-validator';
import { ServerNotFound } from './registry.errors.js';

/** An id that is no UUID is answered like an unknown server (contract R3). */
@Injectable()
export class ServerIdPipe implements PipeTransform<string, string> {
  transform(value: string): string {
    if (!isUUID(value)) throw new ServerNotFound(value);
    return value.toLowerCase();
  }
}
