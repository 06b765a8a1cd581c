import { Inject, Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';

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

  /** Throws when the database does not answer. */
  async ping(): Promise<void> {
    await this.dataSource.query('SELECT 1');
  }
}
