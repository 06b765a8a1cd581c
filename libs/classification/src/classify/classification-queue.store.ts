import { Injectable } from '@nestjs/common';
import { Catalogue, type CatalogueTool, TOOLS_MARK, ToolStore } from '@app/catalogue';
import { Database, isForeignKeyViolation, type JsonObject, type Tx } from '@app/platform';
import { AssignmentStore, type ToolAssignments } from './assignment.store.js';
import { LOCAL } from './classifier.js';
import type { Assignment } from '../skills/skill.js';

/** A tool claimed from the queue, as of that moment. */
export interface ClaimedTool {
  readonly id: number;
  /** Identifies this claim: a result counts only while the row still has it. */
  readonly lease: string;
  readonly originalName: string;
  readonly description: string;
  readonly inputSchema: JsonObject;
  readonly contentHash: string;
  readonly serverId: string | null;
  readonly serverName: string | null;
  readonly serverDescription: string | null;
}

export interface ClassificationOutcome {
  readonly tool: Pick<ClaimedTool, 'id' | 'contentHash' | 'lease'>;
  readonly assignments: ToolAssignments['assignments'];
  /** Likely skills that are not sure enough to be assigned. */
  readonly unsure: readonly Assignment[];
}

/** A tool as it is put in the queue. */
interface Content {
  readonly id: number;
  readonly contentHash: string;
}

interface Lease {
  readonly lease: string;
  /** Of the tool when it was put in the queue. */
  readonly contentHash: string;
}

/** By tool. */
type Leases = ReadonlyMap<number, Lease>;

/** Tools that were overridden or made due again since they were claimed. */
class LeasesLost extends Error {
  constructor(readonly toolIds: ReadonlySet<number>) {
    super('the leases of some tools were lost');
  }
}

/** Batch size: the embedded database blocks the event loop during a write. */
const TOOLS_PER_WRITE = 1_000;
/** After this a tool claimed by a crashed process can be claimed again. */
const LEASE_END = `now() + interval '5 minutes'`;
const NOW = 'now()';
/** Exponential backoff after a failure: 30 s up to ten minutes. */
const RETRY = `least(interval '30 seconds' * power(2, least(attempts, 5)), interval '10 minutes')`;

/** For `RowWatches`: what `claim` and `writes` would find. */
export const QUEUE_MARK = `SELECT concat(
    CASE WHEN EXISTS (SELECT 1 FROM mcp.tool_classifications WHERE due_at <= now()) THEN 'due ' END,
    (${TOOLS_MARK}))`;

/** What a look at the queue saw. */
export interface QueueLook {
  /** As `ClassificationQueue.writes`. */
  readonly writes: string;
  readonly hasDue: boolean;
}

export function lookIn(mark: string): QueueLook {
  return { hasDue: mark.startsWith('due '), writes: mark.replace(/^due /, '') };
}

export interface ToolOfServer {
  readonly toolId: number;
  /** Null for an own tool. */
  readonly serverId: string | null;
}

interface Enqueued {
  readonly leases: Leases;
  /** Overridden tools that count as classified again. */
  readonly kept: readonly number[];
}

/**
 * Queue and results of classification. The queue is stored in rows: a crash loses nothing, and replicas share the
 * work (FOR UPDATE SKIP LOCKED).
 */
@Injectable()
export class ClassificationQueue {
  private readonly kept: number[] = [];

  constructor(
    private readonly database: Database,
    private readonly tools: ToolStore,
    private readonly catalogue: Catalogue,
    private readonly assignments: AssignmentStore,
  ) {}

  /** Changes with every write to the tools: only then can `enqueue` find new ones. */
  writes(): Promise<string> {
    return this.tools.writes();
  }

  /**
   * Makes new and changed tools due, among these ids or all. Overrides by a human are kept. Tools with an id are taken
   * as the catalogue shows them: a later change is told of by another request.
   */
  async enqueue(toolIds?: readonly number[]): Promise<void> {
    const { toolsById } = this.catalogue.current;
    const tools = toolIds ? toolIds.flatMap((id) => toolsById.get(id) ?? []) : await this.unknown();
    for (let start = 0; start < tools.length; start += TOOLS_PER_WRITE) {
      await this.enqueueExisting(tools.slice(start, start + TOOLS_PER_WRITE));
    }
  }

  /**
   * Claims new and changed tools among these as it makes them due, which writes their rows once and not twice. Another
   * replica that was told of them too claims none of them.
   */
  async enqueueClaimed(toolIds: readonly number[]): Promise<ClaimedTool[]> {
    const { toolsById } = this.catalogue.current;
    const tools = toolIds.flatMap((id) => toolsById.get(id) ?? []);
    return this.claimed(await this.enqueueExisting(tools, LEASE_END));
  }

  /** Reads the rows of the tools only when one was removed meanwhile. */
  private async enqueueExisting(tools: readonly Content[], dueAt = NOW): Promise<Leases> {
    const { background } = this.database;
    try {
      return this.noted(await background.transaction((tx) => this.enqueueSome(tools, dueAt, tx)));
    } catch (error) {
      if (!isForeignKeyViolation(error)) throw error;
      const ids = tools.map(({ id }) => id);
      return this.noted(
        await background.transaction(async (tx) =>
          this.enqueueSome(await this.tools.hold(ids, tx), dueAt, tx),
        ),
      );
    }
  }

  private noted({ leases, kept }: Enqueued): Leases {
    this.kept.push(...kept);
    return leases;
  }

  /** Tools that count as classified again, because a person chose their skills. */
  takeKept(): ToolOfServer[] {
    const { toolsById } = this.catalogue.current;
    return this.kept.splice(0).map((toolId) => {
      const tool = toolsById.get(toolId);
      return { toolId, serverId: tool?.isExternal ? tool.serverId : null };
    });
  }

  /** Tools without a row in the queue, or whose row has another content hash. */
  private async unknown(): Promise<Content[]> {
    const unknown: Content[] = [];
    for await (const stamps of this.tools.stamps()) {
      const rows = await this.database.background.direct.query<
        { id: number; contentHash: string; isOverride: boolean }[]
      >(
        `SELECT tool_id AS id, content_hash AS "contentHash", is_override AS "isOverride"
         FROM mcp.tool_classifications WHERE tool_id = ANY($1::int[])`,
        [stamps.map(({ id }) => id)],
      );
      const queued = new Map(rows.map((row) => [row.id, row]));
      for (const { id, contentHash, isClassified } of stamps) {
        const row = queued.get(id);
        const isKnown = row?.isOverride ? isClassified : row?.contentHash === contentHash;
        if (!isKnown) unknown.push({ id, contentHash });
      }
    }
    return unknown;
  }

  /** The tools that were made due, at a time written in SQL: one in the future is the end of a lease. */
  private async enqueueSome(tools: readonly Content[], dueAt: string, tx: Tx): Promise<Enqueued> {
    const values = [tools.map(({ id }) => id), tools.map(({ contentHash }) => contentHash)];
    const state = dueAt === NOW ? 'DISCOVERED' : 'CLASSIFYING';
    const due = await tx.query<(Lease & { id: number })[]>(
      `INSERT INTO mcp.tool_classifications AS c (tool_id, content_hash, state, due_at)
       SELECT id, hash, '${state}', ${dueAt} FROM unnest($1::int[], $2::text[]) AS given (id, hash)
       ON CONFLICT (tool_id) DO UPDATE
       SET content_hash = excluded.content_hash, classified_by = NULL, attempts = 0, updated_at = now(),
           state = CASE WHEN excluded.due_at > now() THEN excluded.state ELSE c.state END,
           due_at = excluded.due_at
       WHERE c.content_hash <> excluded.content_hash AND NOT c.is_override
       RETURNING tool_id AS id, due_at::text AS lease, content_hash AS "contentHash"`,
      values,
    );
    const kept = await this.keepOverridden(values[0] ?? [], tx);
    return { leases: new Map(due.map((row) => [row.id, row])), kept };
  }

  private async keepOverridden(toolIds: readonly unknown[], tx: Tx): Promise<number[]> {
    const overridden = await tx.query<{ id: number }[]>(
      `SELECT tool_id AS id FROM mcp.tool_classifications
       WHERE tool_id = ANY($1::int[]) AND is_override`,
      [toolIds],
    );
    if (overridden.length === 0) return [];
    return this.tools.markClassified(
      overridden.map(({ id }) => id),
      tx,
    );
  }

  /**
   * Claims up to `limit` due tools, never classified ones first. The lease excludes other workers until it
   * expires. Tools that the catalogue shows with other contents than those in the queue are read.
   */
  async claim(limit: number): Promise<ClaimedTool[]> {
    return this.claimed(await this.database.background.transaction((tx) => this.lease(limit, tx)));
  }

  private async claimed(leases: Leases): Promise<ClaimedTool[]> {
    const { toolsById, servers } = this.catalogue.current;
    const shown: CatalogueTool[] = [];
    const unread = new Set<number>();
    for (const [id, { contentHash }] of leases) {
      const tool = toolsById.get(id);
      if (tool?.contentHash === contentHash) shown.push(tool);
      else unread.add(id);
    }
    const read = await this.tools.read({ toolsOf: new Set(), tools: unread }, toolsById);
    const withheld = read.filter((tool) => tool.withheld !== null);
    if (withheld.length > 0) await this.setAside(withheld, leases);
    return [...shown, ...read.filter((tool) => tool.withheld === null)]
      .map((tool) => ({
        id: tool.id,
        lease: leases.get(tool.id)?.lease ?? '',
        originalName: tool.originalName,
        description: tool.description,
        inputSchema: tool.inputSchema,
        contentHash: tool.contentHash,
        serverId: tool.isExternal ? tool.serverId : null,
        serverName: tool.isExternal ? tool.serverName : null,
        serverDescription: servers.get(tool.serverId)?.description ?? null,
      }))
      .sort((a, b) => a.id - b.id);
  }

  /** Until they are offered again: any contents differ from none, so that they are enqueued then. */
  private async setAside(tools: readonly CatalogueTool[], leases: Leases): Promise<void> {
    await this.database.background.direct.query(
      `UPDATE mcp.tool_classifications c
       SET state = 'DISCOVERED', content_hash = '', due_at = NULL, updated_at = now()
       FROM unnest($1::int[], $2::timestamptz[]) AS o (id, lease)
       WHERE c.tool_id = o.id AND c.due_at = o.lease AND NOT c.is_override`,
      [tools.map(({ id }) => id), tools.map(({ id }) => leases.get(id)?.lease ?? null)],
    );
  }

  /** By tool, the end of its lease: any other write that makes the tool due replaces it. */
  private async lease(limit: number, tx: Tx): Promise<Leases> {
    const due = await tx.query<{ id: number }[]>(
      `SELECT tool_id AS id FROM mcp.tool_classifications WHERE due_at <= now()
       ORDER BY classified_by IS NOT NULL, due_at, tool_id LIMIT $1 FOR UPDATE SKIP LOCKED`,
      [limit],
    );
    if (due.length === 0) return new Map();
    const leased = await tx.query<(Lease & { id: number })[]>(
      `WITH leased AS (
         UPDATE mcp.tool_classifications
         SET state = 'CLASSIFYING', due_at = ${LEASE_END}, updated_at = now()
         WHERE tool_id = ANY($1::int[]) RETURNING tool_id, due_at, content_hash)
       SELECT tool_id AS id, due_at::text AS lease, content_hash AS "contentHash" FROM leased`,
      [due.map(({ id }) => id)],
    );
    return new Map(leased.map((row) => [row.id, row]));
  }

  /**
   * Stores results and returns the ids of the tools. Skips tools that were changed, removed, overridden or made due
   * again since they were claimed: a result of an earlier taxonomy must not end the wait for a later one.
   */
  async settle(
    outcomes: readonly ClassificationOutcome[],
    classifiedBy: string,
  ): Promise<number[]> {
    let left = outcomes;
    for (;;) {
      try {
        const settling = left;
        return await this.database.background.transaction((tx) =>
          this.settleAll(settling, classifiedBy, tx),
        );
      } catch (error) {
        if (!(error instanceof LeasesLost)) throw error;
        left = left.filter(({ tool }) => !error.toolIds.has(tool.id));
      }
    }
  }

  /** Locks the rows of the tools by writing them; rolls that back for leases that were lost. */
  private async settleAll(
    outcomes: readonly ClassificationOutcome[],
    classifiedBy: string,
    tx: Tx,
  ): Promise<number[]> {
    const written = await this.assignments.replace(
      outcomes.map(({ tool, assignments }) => ({
        toolId: tool.id,
        assignments,
        contentHash: tool.contentHash,
      })),
      classifiedBy,
      tx,
    );
    const unchanged = outcomes.filter(({ tool }) => written.has(tool.id));
    const closed = await this.closeLeases(unchanged, classifiedBy, tx);
    const lost = unchanged.filter(({ tool }) => !closed.has(tool.id));
    if (lost.length > 0) throw new LeasesLost(new Set(lost.map(({ tool }) => tool.id)));
    return [...closed];
  }

  /** Compares and writes in one statement, which sees the row as it is when it locks it. */
  private async closeLeases(
    outcomes: readonly ClassificationOutcome[],
    classifiedBy: string,
    tx: Tx,
  ): Promise<ReadonlySet<number>> {
    const rows = await tx.query<{ id: number }[]>(
      `WITH settled AS (
         UPDATE mcp.tool_classifications c
         SET state = CASE WHEN o.has_skills THEN 'CLASSIFIED' ELSE 'UNCLASSIFIED' END,
             unsure = o.unsure, classified_by = $5, due_at = NULL, attempts = 0, last_error = NULL, updated_at = now()
         FROM unnest($1::int[], $2::timestamptz[], $3::boolean[], $4::jsonb[])
           AS o (id, lease, has_skills, unsure)
         WHERE c.tool_id = o.id AND c.due_at = o.lease AND NOT c.is_override RETURNING c.tool_id)
       SELECT tool_id AS id FROM settled`,
      [
        outcomes.map(({ tool }) => tool.id),
        outcomes.map(({ tool }) => tool.lease),
        outcomes.map(({ assignments }) => assignments.length > 0),
        outcomes.map(({ unsure }) => JSON.stringify(unsure)),
        classifiedBy,
      ],
    );
    return new Set(rows.map(({ id }) => id));
  }

  /** Reschedules tools without a result (contract EC-009). */
  async postpone(tools: readonly ClassificationOutcome['tool'][], reason: string): Promise<void> {
    await this.database.background.transaction((tx) =>
      tx.query(
        `UPDATE mcp.tool_classifications c
         SET state = 'UNCLASSIFIED', attempts = attempts + 1, last_error = $3,
             due_at = now() + ${RETRY}, updated_at = now()
         FROM unnest($1::int[], $2::timestamptz[]) AS o (id, lease)
         WHERE c.tool_id = o.id AND c.due_at = o.lease AND NOT c.is_override`,
        [tools.map(({ id }) => id), tools.map(({ lease }) => lease), reason],
      ),
    );
  }

  /** Makes all tools due after a change of the taxonomy. */
  async requeueAll(tx: Tx): Promise<void> {
    await this.makeDue('NOT is_override', [], tx);
  }

  /** Makes results of other local models due; they stay valid until a new result is stored. */
  async requeueLocal(classifier: string): Promise<void> {
    await this.makeDue(
      `classified_by LIKE '${LOCAL}%' AND classified_by <> $1 AND due_at IS NULL AND NOT is_override`,
      [classifier],
      this.database.background.direct,
    );
  }

  /** In parts, because a statement of the embedded database blocks the event loop. */
  private async makeDue(
    condition: string,
    values: readonly string[],
    on: Pick<Tx, 'query'>,
  ): Promise<void> {
    const rows = await on.query<{ id: number }[]>(
      `SELECT tool_id AS id FROM mcp.tool_classifications WHERE ${condition} ORDER BY tool_id`,
      [...values],
    );
    for (let start = 0; start < rows.length; start += TOOLS_PER_WRITE) {
      await on.query(
        `UPDATE mcp.tool_classifications SET due_at = now(), attempts = 0
         WHERE tool_id = ANY($1::int[]) AND NOT is_override`,
        [rows.slice(start, start + TOOLS_PER_WRITE).map(({ id }) => id)],
      );
    }
  }

  /** Makes failed tools due now, because the model answers again. */
  async retryFailed(): Promise<void> {
    await this.database.background.direct.query(
      `UPDATE mcp.tool_classifications SET due_at = now()
       WHERE state = 'UNCLASSIFIED' AND attempts > 0 AND due_at > now()`,
    );
  }
}
