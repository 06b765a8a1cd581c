import { Injectable, type PipeTransform } from '@nestjs/common';
import { isUUID } from 'class-validator';
import { WebhookNotFound } from '../webhooks.errors.js';

/** An id that is no UUID is answered like an unknown webhook (contract R3). */
@Injectable()
export class WebhookIdPipe implements PipeTransform<string, string> {
  transform(value: string): string {
    if (!isUUID(value)) throw new WebhookNotFound(value);
    return value.toLowerCase();
  }
}
