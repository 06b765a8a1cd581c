import { Injectable, type OnModuleInit } from '@nestjs/common';
import { SettingsStore } from '@app/platform';
import { randomUUID } from 'node:crypto';
import { z } from 'zod';

const KEY = 'deployment';
const stored = z.object({ id: z.string() });

/** The id of this deployment, by which other aggregators recognise it. All replicas on one database share it. */
@Injectable()
export class Deployment implements OnModuleInit {
  private known: string | undefined;

  constructor(private readonly settings: SettingsStore) {}

  get id(): string {
    if (this.known === undefined) throw new Error('the id of the deployment is not read yet');
    return this.known;
  }

  async onModuleInit(): Promise<void> {
    // Only the first start writes the id; replicas that start at the same time all read the stored one.
    await this.settings.insertIfAbsent(KEY, { id: randomUUID() });
    this.known = stored.parse(await this.settings.get(KEY)).id;
  }
}
