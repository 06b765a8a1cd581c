import { Inject, Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { ExclusiveLock } from './exclusive-lock.js';

/** A transaction in progress, or the plain connection; stores take it so that one change is one transaction. */
export type Tx = EntityManager;

/** The door to PostgreSQL for handlers, which may open a transaction but know no SQL. */
@Injectable()
export class Database {
  constructor(@Inject(DataSource) private readonly dataSource: DataSource) {}

  /** Outside a transaction. */
  get direct(): Tx {
    return this.dataSource.manager;
  }

  transaction<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    return this.dataSource.transaction(work);
  }

  /** Among all processes on this database. Not for the embedded one: its only connection would be taken. */
  exclusiveLock(key: number): ExclusiveLock {
    return new ExclusiveLock(this.dataSource, key);
  }

  /** Throws when the database does not answer. */
  async ping(): Promise<void> {
    await this.dataSource.query('SELECT 1');
  }
}
