import { Injectable, type PipeTransform } from '@nestjs/common';
import { isUUID } from 'class-validator';
import { ServerNotFound } from './registry.errors.js';

/** What is no UUID is the id of no server (RULINGS R3). */
@Injectable()
export class ServerIdPipe implements PipeTransform<string, string> {
  transform(value: string): string {
    if (!isUUID(value)) throw new ServerNotFound(value);
    return value.toLowerCase();
  }
}
